import { expect, it } from 'vitest';
import { RestartBackoff } from './restart-backoff.js';

it('doubles from ten seconds to five minutes, and is reset after a long run', () => {
  const backoff = new RestartBackoff();
  let nowMs = 0;
  const delays = [];
  for (let turn = 0; turn < 8; turn += 1) {
    const waitMs = backoff.remainingMs('a', nowMs, nowMs);
    delays.push(waitMs / 1000);
    const finishedMs = nowMs;
    nowMs += waitMs;
    backoff.started('a', finishedMs, nowMs);
  }
  expect(delays).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
  expect(backoff.remainingMs('a', nowMs + 700_000, nowMs + 700_000)).toBe(0);
  expect(backoff.remainingMs('b', nowMs, nowMs)).toBe(0);
  backoff.forget('a');
  expect(backoff.delayMs('a')).toBe(0);
});
