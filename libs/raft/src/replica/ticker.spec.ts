import type { LoopClock } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { ProcessClock } from '../testing/replica-cluster.js';
import { Ticker } from './ticker.js';

/** A ticker for which something is due at every tick, unless `due` says otherwise. */
function tickerOn(clock: LoopClock, due: { in: number } = { in: 1 }) {
  const late: number[] = [];
  const count = { ticks: 0 };
  const ticker = new Ticker({
    clock,
    tickMs: 50,
    ticksUntilDue: () => due.in,
    onTicks: (ticks, lateMs) => {
      count.ticks += ticks;
      if (lateMs !== undefined) late.push(lateMs);
    },
  });
  ticker.start();
  return { ticker, late, count };
}

describe('Ticker', () => {
  it('ticks evenly, and reports how late it is', async () => {
    const clock = new ManualClock();
    const { ticker, late } = tickerOn(clock);
    await clock.advance(1_000);
    expect(late).toEqual(Array.from({ length: 20 }, () => 0));
    ticker.stop();
    await clock.advance(1_000);
    expect(late).toHaveLength(20);
  });

  it('makes one tick of all that a pause has missed', async () => {
    const world = new ManualClock();
    const clock = new ProcessClock(world);
    const { ticker, late, count } = tickerOn(clock);
    await world.advance(100);
    clock.pause();
    await world.advance(10_000);
    clock.resume();
    await world.advance(1);
    expect(count.ticks).toBe(3);
    expect(late[2]).toBeGreaterThan(9_000);
    await world.advance(500);
    expect(count.ticks).toBe(13);
    ticker.stop();
  });

  it('fires once for all ticks up to the first one that is due', async () => {
    const clock = new ManualClock();
    const { ticker, late, count } = tickerOn(clock, { in: 5 });
    await clock.advance(50 + 4 * 250);
    expect(late).toHaveLength(5);
    expect(count.ticks).toBe(21);
    ticker.stop();
  });

  it('counts the ticks before input, but not the one that is due', async () => {
    const clock = new ManualClock();
    const { ticker, late, count } = tickerOn(clock, { in: 5 });
    await clock.advance(50 + 120);
    ticker.catchUp();
    expect(count.ticks).toBe(3);
    // The timer is due, and has not fired yet.
    await clock.advance(129);
    ticker.catchUp();
    expect(count.ticks).toBe(5);
    expect(late).toHaveLength(1);
    await clock.advance(1);
    expect(count.ticks).toBe(6);
    expect(late).toHaveLength(2);
    ticker.stop();
  });

  it('fires earlier when something is due earlier', async () => {
    const clock = new ManualClock();
    const due = { in: 20 };
    const { ticker, late, count } = tickerOn(clock, due);
    await clock.advance(50 + 120);
    ticker.catchUp();
    due.in = 2;
    ticker.adjust();
    await clock.advance(79);
    expect(late).toHaveLength(1);
    await clock.advance(1);
    expect(late).toEqual([0, 0]);
    expect(count.ticks).toBe(5);
    ticker.stop();
  });

  it('makes one tick of a pause after the planned ones', async () => {
    const world = new ManualClock();
    const clock = new ProcessClock(world);
    const { ticker, late, count } = tickerOn(clock, { in: 5 });
    await world.advance(50);
    clock.pause();
    await world.advance(10_000);
    clock.resume();
    await world.advance(1);
    expect(count.ticks).toBe(6);
    expect(late[1]).toBeGreaterThan(9_000);
    ticker.stop();
  });
});
