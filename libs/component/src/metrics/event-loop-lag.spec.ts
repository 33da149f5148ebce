import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { sleep } from '../lifecycle/deadline.js';
import { eventLoopSampleMs, eventLoopSampleMsMax } from '../limits.js';
import { nextPeriodMs, registerEventLoopLag } from './event-loop-lag.js';

it('doubles the period of an idle loop and halves that of a busy one, within the limits', () => {
  const periods = [eventLoopSampleMs];
  for (let round = 0; round < 8; round += 1) periods.push(nextPeriodMs(periods.at(-1)!, 0.01, 0));
  expect(periods.slice(0, 3)).toEqual([1, 2, 4].map((factor) => factor * eventLoopSampleMs));
  expect(periods.at(-1)).toBe(eventLoopSampleMsMax);
  expect(nextPeriodMs(eventLoopSampleMsMax, 0.5, 0)).toBe(eventLoopSampleMsMax / 2);
  const delayed = nextPeriodMs(eventLoopSampleMsMax, 0.01, eventLoopSampleMs);
  expect(delayed).toBe(eventLoopSampleMsMax / 2);
  expect(nextPeriodMs(eventLoopSampleMs, 0.5, 0)).toBe(eventLoopSampleMs);
});

it('shows a blocked event loop in the next rendering', async () => {
  const registry = new Registry();
  registerEventLoopLag(registry);
  const maxSeconds = async () => {
    const text = await registry.metrics();
    return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]);
  };
  await expect
    .poll(async () => {
      // Busy, so that the sampler is in its short period when the loop blocks.
      block(30);
      await sleep(1);
      block(200);
      await sleep(eventLoopSampleMs);
      return maxSeconds();
    })
    .toBeGreaterThan(0.1);
});

function block(durationMs: number): void {
  const untilMs = performance.now() + durationMs;
  while (performance.now() < untilMs);
}
