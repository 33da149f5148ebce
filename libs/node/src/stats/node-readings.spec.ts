import { describe, expect, it } from 'vitest';
import { cpuNanoseconds, memoryOf } from './node-readings.js';

describe('readings of the node', () => {
  it('count all CPU time except idle time and waits', () => {
    const text = 'cpu  100 10 50 9000 700 3 4 5 90 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n';
    expect(cpuNanoseconds(text)).toBe((100 + 10 + 50 + 3 + 4 + 5) * 1e7);
  });

  it('exclude reclaimable memory from the working set', () => {
    const text =
      'MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\nAnonPages:       300 kB\n';
    expect(memoryOf(text)).toEqual({
      capacityBytes: 1_024_000,
      availableBytes: 614_400,
      usageBytes: 921_600,
      workingSetBytes: 409_600,
      rssBytes: 307_200,
    });
  });
});
