import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyLayout, toEtcdRevision, toStoreRevision } from './key-layout.js';

const layout = new KeyLayout('/registry');

function within(key: Buffer, range: { readonly key: Buffer; readonly rangeEnd: Buffer }): boolean {
  return Buffer.compare(key, range.key) >= 0 && Buffer.compare(key, range.rangeEnd) < 0;
}

describe('KeyLayout', () => {
  const text = fc.string({ unit: 'binary' }).filter((key) => !/\p{Surrogate}/u.test(key));

  it('decodes every encoded key and preserves the order by code unit', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [left, right] = [layout.entryKey(`a/${one}`), layout.entryKey(`a/${other}`)];
        expect(layout.keyOf(left)).toBe(`a/${one}`);
        expect(Math.sign(Buffer.compare(left, right))).toBe(one < other ? -1 : Number(one > other));
      }),
    );
  });

  it('selects keys that start with a prefix and sort after a key', () => {
    fc.assert(
      fc.property(text, text, text, (key, prefix, startAfter) => {
        const selected = within(layout.entryKey(key), layout.entries(prefix, startAfter));
        expect(selected).toBe(key.startsWith(prefix) && key > startAfter);
      }),
    );
  });

  it('distinguishes its own keys from those of its neighbours', () => {
    const own = [layout.entryKey(''), layout.entryKey('core/pods/a'), layout.finalKey(0)];
    for (const key of own) expect(within(key, layout.own)).toBe(true);
    expect(layout.keyOf(layout.finalKey(0))).toBeUndefined();
    expect(layout.isFinal(layout.finalKey(0))).toBe(true);
    expect(layout.isFinal(layout.entryKey('core/pods/a'))).toBe(false);
    for (const neighbour of ['/registryx/a', '/registry', '/registry-a/b', '/registry0/a']) {
      expect(layout.keyOf(Buffer.from(neighbour))).toBeUndefined();
      expect(within(Buffer.from(neighbour), layout.own)).toBe(false);
    }
  });

  it('counts revisions from an empty etcd', () => {
    expect([0, 1, 2].map(toStoreRevision)).toEqual([0, 0, 1]);
    expect(toEtcdRevision(0)).toBe(1);
  });
});
