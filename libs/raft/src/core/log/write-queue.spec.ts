import { describe, expect, it } from 'vitest';
import { asLogIndex, asMemberId, asTerm } from '../brands.js';
import { InvariantError } from '../invariant.js';
import type { AppendResponse, Message } from '../messages.js';
import type { Entry, HardState, LogIndex, LogPoint } from '../types.js';
import { entryAfter, logOrigin } from './entry-checksum.js';
import { WriteQueue } from './write-queue.js';

const at = (index: number): LogIndex => asLogIndex(index);
const state = (term: number, commit = 0): HardState => ({
  term: asTerm(term),
  votedFor: undefined,
  commitIndex: at(commit),
});

describe('WriteQueue', () => {
  it('has one write at a time; the next carries all that gathered', () => {
    const queue = new WriteQueue(state(1), at(0), 100);
    expect(queue.take(state(1, 0), at(0))).toBeUndefined();
    const [one, two, three] = append(queue, logOrigin, 3);
    const first = queue.take(state(1), at(3))!;
    expect(first).toMatchObject({ id: 1, hardState: undefined, entries: [one, two, three] });
    append(queue, three!, 2);
    expect(queue.take(state(1), at(5))).toBeUndefined();
    queue.onWritten(1, asTerm(1));
    expect(queue.stableIndex).toBe(3);
    expect(queue.take(state(1, 3), at(5))).toMatchObject({ id: 2, hardState: state(1, 3) });
  });

  it('writes a commit index only along with something else', () => {
    const queue = new WriteQueue(state(1), at(5), 100);
    expect(queue.take(state(1, 5), at(5))).toBeUndefined();
    expect(queue.idle).toBe(true);
    queue.markHardStateChanged();
    expect(queue.take(state(2, 5), at(5))).toMatchObject({ hardState: state(2, 5), entries: [] });
  });

  it('holds a promise back until the write that carries it is done', () => {
    const queue = new WriteQueue(state(1), at(0), 100);
    expect(queue.holdUntilDurable(acknowledge(0), at(0))).toBe(false);
    const [first] = append(queue, logOrigin, 1);
    queue.take(state(1), at(1));
    append(queue, first!, 1);
    expect(queue.holdUntilDurable(acknowledge(1), at(1))).toBe(true);
    expect(queue.holdUntilDurable(acknowledge(2), at(2))).toBe(true);
    expect(queue.onWritten(1, asTerm(1))).toEqual([acknowledge(1)]);
    queue.take(state(1), at(2));
    expect(queue.onWritten(2, asTerm(1))).toEqual([acknowledge(2)]);
    expect(queue.holdUntilDurable(acknowledge(2), at(2))).toBe(false);
  });

  it('replaces earlier acknowledgements by the newest', () => {
    const queue = new WriteQueue(state(1), at(0), 100);
    append(queue, logOrigin, 3);
    for (const index of [1, 2, 3]) queue.holdUntilDurable(acknowledge(index), at(index));
    queue.take(state(1), at(3));
    expect(queue.onWritten(1, asTerm(1))).toEqual([acknowledge(3)]);
  });

  it('holds every promise back while term or vote are not durable', () => {
    const queue = new WriteQueue(state(1), at(4), 100);
    queue.markHardStateChanged();
    expect(queue.holdUntilDurable(acknowledge(2), at(2))).toBe(true);
    expect(queue.hardStateStable).toBe(false);
    queue.take(state(2), at(4));
    expect(queue.hardStateStable).toBe(false);
    queue.onWritten(1, asTerm(2));
    expect(queue.hardStateStable).toBe(true);
  });

  it('drops a promise whose term has passed: its entries may be gone', () => {
    const queue = new WriteQueue(state(1), at(0), 100);
    append(queue, logOrigin, 2);
    queue.holdUntilDurable(acknowledge(2), at(2));
    queue.take(state(1), at(2));
    queue.markHardStateChanged();
    expect(queue.onWritten(1, asTerm(2))).toEqual([]);
  });

  it('does not count entries as durable that are truncated during their write', () => {
    const queue = new WriteQueue(state(1), at(0), 100);
    const [, second] = append(queue, logOrigin, 4);
    queue.take(state(1), at(4));
    queue.truncateFrom(at(3));
    const [replacement] = append(queue, second!, 1, 2);
    queue.onWritten(1, asTerm(1));
    expect(queue.stableIndex).toBe(2);
    expect(queue.take(state(1), at(3))).toMatchObject({ truncateFrom: 3, entries: [replacement] });
    queue.onWritten(2, asTerm(1));
    expect(queue.stableIndex).toBe(3);
  });

  it('drops entries that were not yet handed over without a trace', () => {
    const queue = new WriteQueue(state(1), at(0), 100);
    const [first] = append(queue, logOrigin, 3);
    queue.truncateFrom(at(2));
    expect(queue.take(state(1), at(1))).toMatchObject({
      truncateFrom: undefined,
      entries: [first],
    });
  });

  it('refuses what cannot be', () => {
    const queue = new WriteQueue(state(3), at(2), 100);
    queue.markHardStateChanged();
    expect(() => queue.take(state(2), at(2))).toThrow(InvariantError);
    expect(() => queue.take(state(4, 3), at(2))).toThrow(InvariantError);
    expect(() => queue.onWritten(1, asTerm(3))).toThrow(InvariantError);
    append(queue, { index: at(2), term: asTerm(1), checksum: 0 }, 1);
    expect(() => queue.reset(at(9))).toThrow(InvariantError);
  });
});

function append(queue: WriteQueue, after: LogPoint, count: number, term = 1): Entry[] {
  const entries: Entry[] = [];
  let last = after;
  for (let done = 0; done < count; done += 1) {
    const entry = entryAfter(last, asTerm(term), 'empty', Buffer.alloc(0));
    queue.append(entry);
    entries.push(entry);
    last = entry;
  }
  return entries;
}

function acknowledge(index: number): Message {
  const response: AppendResponse = {
    kind: 'appendResponse',
    from: asMemberId('b'),
    to: asMemberId('a'),
    term: asTerm(1),
    accepted: true,
    matchIndex: at(index),
    refusedIndex: at(0),
    hintIndex: at(0),
    hintTerm: asTerm(0),
    needsSnapshot: false,
    appliedIndex: at(0),
  };
  return response;
}
