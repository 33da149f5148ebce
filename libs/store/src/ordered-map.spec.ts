import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countBelow, orderedMap, prefixEnd } from './ordered-map.js';

describe('countBelow', () => {
  it('counts like an iteration after insertions, deletions and clones', () => {
    const step = fc.tuple(fc.nat(3_000), fc.integer({ min: 0, max: 3 }));
    const property = fc.property(
      fc.array(step, { maxLength: 2_000, size: 'max' }),
      fc.nat(3_000),
      (steps, bound) => {
        const map = orderedMap<number, number>();
        for (const [key, kind] of steps) {
          if (kind === 0) map.delete(key);
          else map.set(key, key);
          if (key % 500 === 0) map.clone();
        }
        expect(countBelow(map, bound)).toBe(map.keysArray().filter((key) => key < bound).length);
      },
    );
    fc.assert(property, { numRuns: 40 });
  });
});

describe('prefixEnd', () => {
  it('is the least string above everything with the prefix', () => {
    expect(prefixEnd('core/pods/')).toBe('core/pods0');
    expect(prefixEnd('a\uffff')).toBe('b');
    expect(prefixEnd('')).toBeUndefined();
  });
});
