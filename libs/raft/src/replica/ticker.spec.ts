import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { ProcessClock } from '../testing/replica-cluster.js';
import { Ticker } from './ticker.js';

describe('Ticker', () => {
  it('ticks evenly, and reports how late it is', async () => {
    const clock = new ManualClock();
    const late: number[] = [];
    const ticker = new Ticker(clock, 50, (lateMs) => late.push(lateMs));
    ticker.start();
    await clock.advance(1_000);
    expect(late).toEqual(Array.from({ length: 20 }, () => 0));
    ticker.stop();
    await clock.advance(1_000);
    expect(late).toHaveLength(20);
  });

  it('makes one tick of all that a pause has missed', async () => {
    const world = new ManualClock();
    const clock = new ProcessClock(world);
    const late: number[] = [];
    const ticker = new Ticker(clock, 50, (lateMs) => late.push(lateMs));
    ticker.start();
    await world.advance(100);
    clock.pause();
    await world.advance(10_000);
    clock.resume();
    await world.advance(1);
    expect(late).toHaveLength(3);
    expect(late[2]).toBeGreaterThan(9_000);
    await world.advance(500);
    expect(late).toHaveLength(13);
    ticker.stop();
  });
});
