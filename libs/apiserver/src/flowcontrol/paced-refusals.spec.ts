import { describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import {
  refusalBurst,
  refusalDelaySeconds,
  refusalsPerSecond,
  refusalsWaitingMax,
} from '../limits.js';
import { PacedRefusals } from './paced-refusals.js';

function setup() {
  const clock = new TestClock();
  const refusals = new PacedRefusals(clock);
  const sent: number[] = [];
  const refuse = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      const waiting = refusals.wait();
      if (waiting) void waiting.then(() => sent.push(clock.monotonicMs()));
      else sent.push(clock.monotonicMs());
    }
  };
  return { clock, sent, refuse };
}

describe('paced refusals', () => {
  it('are sent immediately while they are few', async () => {
    const { clock, sent, refuse } = setup();
    for (let second = 0; second < 10; second += 1) {
      refuse(refusalsPerSecond);
      expect(sent).toHaveLength(refusalsPerSecond * (second + 1));
      await clock.advance(1_000);
    }
    expect(clock.timerCount).toBe(0);
  });

  it('of a burst are all sent within the longest delay and a little, no many together', async () => {
    const { clock, sent, refuse } = setup();
    const count = refusalsPerSecond * refusalDelaySeconds * 4;
    refuse(count);
    expect(sent).toHaveLength(refusalBurst);
    await clock.advance(refusalDelaySeconds * 4_000);
    expect(sent).toHaveLength(count);
    const byTime = new Map<number, number>();
    for (const at of sent.slice(refusalBurst)) byTime.set(at, (byTime.get(at) ?? 0) + 1);
    expect(Math.max(...byTime.values())).toBeLessThan(refusalsPerSecond / 10);
  });

  it('bound the rate of clients that send again immediately', async () => {
    const { clock, sent, refuse } = setup();
    const clientCount = refusalsPerSecond * refusalDelaySeconds * 2;
    refuse(clientCount);
    await clock.advance(refusalDelaySeconds * 1_000);
    const before = sent.length;
    for (let step = 0; step < 100; step += 1) {
      const seen = sent.length;
      await clock.advance(20);
      refuse(sent.length - seen);
    }
    const perSecond = (sent.length - before) / 2;
    expect(perSecond).toBeLessThan((clientCount / refusalDelaySeconds) * 1.5);
    expect(perSecond).toBeGreaterThan(refusalsPerSecond / 2);
  });

  it('are sent immediately when too many wait', () => {
    const { sent, refuse } = setup();
    refuse(refusalBurst + refusalsWaitingMax + 10);
    expect(sent).toHaveLength(refusalBurst + 10);
  });
});
