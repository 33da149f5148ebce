import { beforeEach, describe, expect, it } from 'vitest';
import { READ_RETRY_MS, READ_ROUNDS_MAX } from '../limits.js';
import type { LogIndex } from '../replicated-log.js';
import { ManualClock } from '../testing/manual-clock.js';
import { ReadRounds } from './read-rounds.js';

describe('ReadRounds', () => {
  let clock: ManualClock;
  let asked: number[];
  let rounds: ReadRounds;

  beforeEach(() => {
    clock = new ManualClock();
    asked = [];
    rounds = create(0.5);
  });

  function create(drawn: number): ReadRounds {
    const made: ReadRounds = new ReadRounds(
      clock,
      () => drawn,
      () => queueMicrotask(() => made.flush()),
      (context) => asked.push(context),
      () => 'no leader is known',
    );
    return made;
  }

  const index = (value: number) => value as LogIndex;
  const read = (afterMs = 10_000) => rounds.read(clock.monotonicMs() + afterMs);

  it('asks once for all that come in a turn, anew for those that come later', async () => {
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

  it('takes an answer that comes later than it waits before it asks again: each may', async () => {
    const reader = read();
    await clock.advance(1);
    for (let time = 1; time <= 3; time += 1) {
      await clock.advance(READ_RETRY_MS + 1);
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

  it('asks again under a new context when nobody leads, and when the leadership changes', async () => {
    const reader = read();
    await clock.advance(1);
    rounds.answered(asked[0]!, undefined);
    await clock.advance(READ_RETRY_MS - 10);
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
    await clock.advance(READ_RETRY_MS + 1);
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

  it('has few rounds under way', async () => {
    const readers: Promise<LogIndex>[] = [];
    for (let count = 0; count < READ_ROUNDS_MAX + 5; count += 1) {
      readers.push(read());
      await clock.advance(1);
    }
    expect(asked).toHaveLength(READ_ROUNDS_MAX);
    rounds.answered(asked[0]!, index(1));
    await clock.advance(1);
    expect(asked).toHaveLength(READ_ROUNDS_MAX + 1);
    for (const context of asked.slice(1)) rounds.answered(context, index(2));
    expect(await Promise.all(readers)).toHaveLength(READ_ROUNDS_MAX + 5);
  });

  it('never asks under a context of the process before', async () => {
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
