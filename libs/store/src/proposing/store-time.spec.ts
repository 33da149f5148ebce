import type { Clock } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { StoreTime } from './store-time.js';

function clockAt(wallMs: number) {
  const clock = {
    wallMs,
    sinceStartMs: 0,
    nowMs: () => clock.wallMs,
    monotonicMs: () => clock.sinceStartMs,
    setTimer: () => ({ cancel: () => undefined }),
    pass(byMs: number) {
      clock.wallMs += byMs;
      clock.sinceStartMs += byMs;
    },
  };
  return clock satisfies Clock;
}

describe('StoreTime', () => {
  it('starts at the wall clock and advances without it', () => {
    const clock = clockAt(1_000_000);
    const time = new StoreTime(clock);
    clock.pass(500);
    expect(time.nowMs()).toBe(1_000_500);
    clock.wallMs += 3_600_000;
    expect(time.nowMs()).toBe(1_000_500);
    clock.wallMs -= 2 * 3_600_000;
    clock.pass(10);
    expect(time.nowMs()).toBe(1_000_510);
  });

  it('follows a state that is ahead and advances from there', () => {
    const clock = clockAt(1_000);
    const time = new StoreTime(clock);
    time.observe(9_000);
    clock.pass(50);
    expect(time.nowMs()).toBe(9_050);
    time.observe(9_020);
    expect(time.nowMs()).toBe(9_050);
  });
});
