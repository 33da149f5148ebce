import { describe, expect, it } from 'vitest';
import { latencySamplesMax, latencyWindowMs } from '../../limits.js';
import { DiskLatency } from './disk-latency.js';

describe('DiskLatency', () => {
  it('returns the 99th percentile of the recent window', () => {
    const latency = new DiskLatency();
    let nowMs = 0;
    const write = (durationMs: number) => {
      latency.began(nowMs);
      nowMs += durationMs;
      expect(latency.ended(nowMs)).toBe(durationMs);
    };
    expect(latency.p99Ms(nowMs)).toBe(0);
    for (let count = 0; count < 200; count += 1) write(2);
    expect(latency.p99Ms(nowMs)).toBe(2);
    write(500);
    expect(latency.p99Ms(nowMs)).toBe(2);
    for (let count = 0; count < 5; count += 1) write(500);
    expect(latency.p99Ms(nowMs)).toBe(500);
    nowMs += latencyWindowMs + 1;
    expect(latency.p99Ms(nowMs)).toBe(0);
  });

  it('counts a write that does not end', () => {
    const latency = new DiskLatency();
    latency.began(1_000);
    expect(latency.p99Ms(5_000)).toBe(4_000);
  });

  it('forgets the oldest of many', () => {
    const latency = new DiskLatency();
    latency.began(0);
    latency.ended(900);
    for (let count = 0; count < latencySamplesMax; count += 1) {
      latency.began(900);
      latency.ended(901);
    }
    expect(latency.p99Ms(901)).toBe(1);
  });
});
