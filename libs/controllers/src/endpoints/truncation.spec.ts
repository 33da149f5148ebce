import type { EndpointSubset } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { truncateSubsets } from './truncation.js';

const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }));
const subset = (ready: number, notReady: number): EndpointSubset => ({
  ...(ready > 0 ? { addresses: addresses(ready) } : {}),
  ...(notReady > 0 ? { notReadyAddresses: addresses(notReady) } : {}),
  ports: [{ port: ready + notReady }],
});
const counts = (subsets: readonly EndpointSubset[]) =>
  subsets.map((one) => [one.addresses?.length ?? 0, one.notReadyAddresses?.length ?? 0]);

describe('truncateSubsets', () => {
  it('returns the subsets themselves up to the limit', () => {
    const subsets = [subset(60, 30), subset(5, 5)];
    expect(truncateSubsets(subsets, 100)).toBe(subsets);
  });

  it('removes addresses that are not ready first, each subset retaining its share', () => {
    expect(counts(truncateSubsets([subset(50, 60), subset(30, 20)], 100))).toEqual([
      [50, 15],
      [30, 5],
    ]);
  });

  it('truncates ready addresses by share if they exceed the limit alone', () => {
    expect(counts(truncateSubsets([subset(150, 10), subset(50, 0)], 100))).toEqual([
      [75, 0],
      [25, 0],
    ]);
  });

  it('removes a subset without addresses', () => {
    expect(counts(truncateSubsets([subset(100, 0), subset(0, 10)], 100))).toEqual([[100, 0]]);
  });

  it('never exceeds the limit and never drops a ready address for another', () => {
    for (let seed = 1; seed <= 2_000; seed++) {
      const subsets = [0, 1, 2].map((n) => subset((seed * (n + 7)) % 61, (seed * (n + 3)) % 53));
      const all = counts(subsets).flat();
      const total = all.reduce((a, b) => a + b, 0);
      const readyCount = counts(subsets).reduce((sum, [ready = 0]) => sum + ready, 0);
      const left = counts(truncateSubsets(subsets, 80));
      expect(left.flat().reduce((a, b) => a + b, 0)).toBe(Math.min(total, 80));
      expect(left.reduce((sum, [ready = 0]) => sum + ready, 0)).toBe(Math.min(readyCount, 80));
    }
  });
});
