import { beforeEach, describe, expect, it } from 'vitest';
import { asLogIndex } from '../../core/brands.js';
import type { LogIndex } from '../../core/types.js';
import { readRetryMs, readRoundsMax } from '../../limits.js';
import { ManualClock } from '../../testing/manual-clock.js';
import { ReadBarriers } from './read-barriers.js';

describe('ReadRounds', () => {
  let clock: ManualClock;
  let asked: number[];
  let rounds: ReadBarriers;

  beforeEach(() => {
    clock = new ManualClock();
    asked = [];
    rounds = create(0.5);
  });

  function create(drawn: number): ReadBarriers {
    const made: ReadBarriers = new ReadBarriers(
      clock,
      () => drawn,
      () => queueMicrotask(() => made.flush()),
      (context) => asked.push(context),
      () => 'no leader is known',
    );
    return made;
  }

  const index = (value: number) => asLogIndex(value);
  const read = (afterMs = 10_000) => rounds.read(clock.monotonicMs() + afterMs);

  it('shares one round between the callers of a turn, and starts another for later ones', async () => {
    const first = [read(), read(), read()];
    await clock.advance(1);
    expect(asked).toHaveLength(1);
    const later = read();
    await clock.advance(1);
    expect(asked).toHaveLength(2);
    rounds.answered(asked[0]!, index(7));
    expect(await Promise.all(first)).toEqual([7, 7, 7]);
    rounds.answered(asked[1]!, index(9));
    expect(await later).toBe(9);
  });

  it('accepts a result that arrives after its round was repeated', async () => {
    const reader = read();
    await clock.advance(1);
    for (let time = 1; time <= 3; time += 1) {
      await clock.advance(readRetryMs + 1);
      rounds.tick();
      await clock.advance(1);
      expect(asked).toHaveLength(time + 1);
    }
    rounds.answered(asked[0]!, index(5));
    expect(await reader).toBe(5);
    rounds.answered(asked[3]!, index(6));
    const next = read();
    await clock.advance(1);
    rounds.answered(asked[1]!, index(7));
    rounds.answered(asked.at(-1)!, index(8));
    expect(await next).toBe(8);
  });

  it('repeats the round with a new context without a leader, and when the leadership changes', async () => {
    const reader = read();
    await clock.advance(1);
    rounds.answered(asked[0]!, undefined);
    await clock.advance(readRetryMs - 10);
    expect(asked).toHaveLength(1);
    await clock.advance(20);
    expect(asked).toHaveLength(2);
    rounds.leadershipChanged();
    await clock.advance(1);
    expect(new Set(asked).size).toBe(3);
    rounds.answered(asked[0]!, index(1));
    rounds.answered(asked[1]!, index(2));
    rounds.answered(asked[2]!, index(3));
    expect(await reader).toBe(3);
  });

  it('takes a round for lost after a while', async () => {
    const reader = read();
    await clock.advance(1);
    await clock.advance(readRetryMs + 1);
    rounds.tick();
    await clock.advance(1);
    expect(asked).toHaveLength(2);
    rounds.answered(asked[1]!, index(4));
    expect(await reader).toBe(4);
  });

  it('keeps to the deadline, and says why', async () => {
    const reader = read(100).catch((error: Error) => error);
    await clock.advance(200);
    expect(await reader).toMatchObject({ code: 'NoQuorum', message: 'no leader is known' });
    rounds.stop();
    await expect(read()).rejects.toMatchObject({ code: 'Stopped' });
  });

  it('bounds the rounds in flight', async () => {
    const readers: Promise<LogIndex>[] = [];
    for (let count = 0; count < readRoundsMax + 5; count += 1) {
      readers.push(read());
      await clock.advance(1);
    }
    expect(asked).toHaveLength(readRoundsMax);
    rounds.answered(asked[0]!, index(1));
    await clock.advance(1);
    expect(asked).toHaveLength(readRoundsMax + 1);
    for (const context of asked.slice(1)) rounds.answered(context, index(2));
    expect(await Promise.all(readers)).toHaveLength(readRoundsMax + 5);
  });

  it('never uses a context of the previous process', async () => {
    const reader = read();
    await clock.advance(1);
    rounds.answered(asked[0]!, index(1));
    await reader;
    rounds = create(0.25);
    const again = read();
    await clock.advance(1);
    expect(Math.abs(asked[1]! - asked[0]!)).toBeGreaterThan(2 ** 21);
    rounds.answered(asked[0]!, index(1));
    rounds.answered(asked[1]!, index(2));
    expect(await again).toBe(2);
  });
});
