import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EvictionQueue } from './eviction-queue.js';

describe('EvictionQueue', () => {
  it('releases nodes at the rate of their zone, oldest first', () => {
    const queue = new EvictionQueue();
    queue.setRates([['a', 0.1]], 0);
    for (const node of ['n1', 'n2']) expect(queue.add(node, 'a')).toBe(true);
    queue.add('other', 'b');
    expect(queue.add('n1', 'a')).toBe(false);
    expect(queue.due(0)).toEqual(['n1']);
    queue.delete('n1');
    expect(queue.due(9_000)).toEqual([]);
    expect(queue.due(10_000)).toEqual(['n2']);
  });

  it('releases nothing while the rate is 0', () => {
    const queue = new EvictionQueue();
    queue.setRates([['a', 0]], 0);
    queue.add('n1', 'a');
    expect(queue.due(1_000_000)).toEqual([]);
    queue.setRates([['a', 1]], 1_000_000);
    expect(queue.due(1_000_000)).toEqual([]);
    expect(queue.due(1_001_000)).toEqual(['n1']);
  });

  it('releases no more than the highest rate allows, however often the rate changes', () => {
    const steps = fc.array(
      fc.record({ waitMs: fc.nat(5_000), qps: fc.constantFrom(0, 0.1, 0.5, 1) }),
      { maxLength: 50 },
    );
    fc.assert(
      fc.property(steps, (changes) => {
        const queue = new EvictionQueue();
        let nowMs = 0;
        let released = 0;
        queue.setRates([['a', 1]], 0);
        queue.add('node', 'a');
        for (const { waitMs, qps } of changes) {
          nowMs += waitMs;
          queue.setRates([['a', qps]], nowMs);
          released += queue.due(nowMs).length;
        }
        expect(released).toBeLessThanOrEqual(1 + nowMs / 1_000);
      }),
    );
  });
});
