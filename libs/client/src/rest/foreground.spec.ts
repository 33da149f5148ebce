import { describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { limits } from '../limits.js';
import { Foreground } from './foreground.js';

describe('Foreground', () => {
  const quietMs = limits.foregroundQuietMs;

  /** Returns a wait of at most `yieldMs` and whether it has ended. */
  const waitOn = (foreground: Foreground, clock: TestClock, yieldMs: number) => {
    const wait = { isOver: false };
    void foreground.whenQuiet(clock.monotonicMs() + yieldMs, undefined).then(() => {
      wait.isOver = true;
    });
    return wait;
  };

  it('delays nothing while no request is open', async () => {
    const clock = new TestClock();
    const wait = waitOn(new Foreground(clock), clock, 1_000);
    await clock.advance(0);
    expect(wait.isOver).toBe(true);
  });

  it('delays until no request was open for a short time', async () => {
    const clock = new TestClock();
    const foreground = new Foreground(clock);
    foreground.begin();
    foreground.begin();
    const wait = waitOn(foreground, clock, 60_000);
    await clock.advance(10 * quietMs);
    foreground.end(clock.monotonicMs());
    await clock.advance(10 * quietMs);
    foreground.end(clock.monotonicMs());
    await clock.advance(quietMs - 1);
    expect(wait.isOver).toBe(false);
    await clock.advance(quietMs + 1);
    expect(wait.isOver).toBe(true);
  });

  it('delays no longer than the caller accepts while requests are open', async () => {
    const clock = new TestClock();
    const foreground = new Foreground(clock);
    foreground.begin();
    const wait = waitOn(foreground, clock, 1_000);
    await clock.advance(999);
    expect(wait.isOver).toBe(false);
    await clock.advance(1);
    expect(wait.isOver).toBe(true);
  });
});
