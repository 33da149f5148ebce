import type { Clock } from '@orch/component';
import { expect, it } from 'vitest';
import { Pace } from './pace.js';

it('starts the first turn immediately and later turns after a pause', async () => {
  let nowMs = 1_000;
  const waitsMs: number[] = [];
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    setTimer(delayMs, callback) {
      waitsMs.push(delayMs);
      nowMs += delayMs;
      queueMicrotask(callback);
      return { cancel: () => undefined };
    },
  };
  const pace = new Pace(clock);
  await pace.turn();
  expect(waitsMs).toEqual([]);
  nowMs += 50;
  await pace.turn();
  expect(waitsMs).toEqual([150]);
  nowMs += 5_000;
  await pace.turn();
  expect(waitsMs).toEqual([150]);
});
