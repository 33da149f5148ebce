import { describe, expect, it } from 'vitest';
import { asLogIndex, asTerm } from '../brands.js';
import { InvariantError } from '../invariant.js';
import type { Entry, LogIndex, LogPoint } from '../types.js';
import { entryAfter, logOrigin } from './entry-checksum.js';
import { RaftLog } from './raft-log.js';

const at = (index: number): LogIndex => asLogIndex(index);
const cacheBounds = { cacheEntriesMax: 4, cacheBytesMax: 1_000_000 };

describe('RaftLog', () => {
  it('knows every term, and points as far as they are in memory', () => {
    const log = logOf(1, 1, 2, 2, 2, 5, 5);
    log.evict(at(7));
    expect([0, 1, 2, 3, 5, 6, 7, 8].map((index) => log.termAt(at(index)))).toEqual([
      0,
      1,
      1,
      2,
      2,
      5,
      5,
      undefined,
    ]);
    expect(log.pointAt(at(3))).toBeUndefined();
    expect(log.pointAt(at(4))?.term).toBe(2);
    expect(log.pointAt(at(0))).toEqual(logOrigin);
  });

  it('takes only what follows', () => {
    const log = logOf(asTerm(1), asTerm(2));
    expect(() => log.append(entryAfter(logOrigin, asTerm(3), 'empty', Buffer.alloc(0)))).toThrow(
      InvariantError,
    );
    const falling = entryAfter(
      { ...log.last, term: asTerm(1) },
      asTerm(1),
      'empty',
      Buffer.alloc(0),
    );
    expect(() => log.append(falling)).toThrow(InvariantError);
  });

  it('compares other logs by last term, then by length', () => {
    const log = logOf(asTerm(1), asTerm(2), asTerm(2));
    expect(log.isUpToDate(at(3), asTerm(2))).toBe(true);
    expect(log.isUpToDate(at(2), asTerm(2))).toBe(false);
    expect(log.isUpToDate(at(1), asTerm(3))).toBe(true);
    expect(log.isUpToDate(at(9), asTerm(1))).toBe(false);
  });

  it('names the last point where two logs may agree', () => {
    const log = logOf(1, 1, 4, 4, 6);
    expect(log.agreementHint(at(5), asTerm(4))).toEqual({ index: 4, term: 4 });
    expect(log.agreementHint(at(9), asTerm(9))).toEqual({ index: 5, term: 6 });
    expect(log.agreementHint(at(4), asTerm(3))).toEqual({ index: 2, term: 1 });
    expect(log.agreementHint(at(4), asTerm(0))).toEqual({ index: 0, term: 0 });
  });

  it('continues from where it was truncated, compacted or replaced', () => {
    const log = logOf(1, 1, 2, 2, 3);
    const kept = log.pointAt(at(3))!;
    log.truncateAfter(kept);
    log.append(entryAfter(kept, asTerm(7), 'empty', Buffer.alloc(0)));
    expect(log.last).toMatchObject({ index: 4, term: 7 });
    log.compactTo(log.pointAt(at(2))!);
    expect(log.termAt(at(1))).toBeUndefined();
    expect(log.firstIndex).toBe(3);
    expect(() => log.compactTo({ index: at(3), term: asTerm(2), checksum: 1 })).toThrow(
      InvariantError,
    );
    log.reset({ index: at(50), term: asTerm(9), checksum: 5 });
    expect(log.last).toMatchObject({ index: 50, term: 9 });
    log.append(entryAfter(log.last, asTerm(9), 'empty', Buffer.alloc(0)));
    expect(log.termAt(at(51))).toBe(9);
  });

  it('loads only a tail that is whole', () => {
    const entries = entriesOf(asTerm(1), asTerm(1), asTerm(2));
    const load = (tail: Entry[]): RaftLog =>
      new RaftLog(
        {
          start: logOrigin,
          last: entries[2]!,
          terms: [
            { firstIndex: at(1), term: asTerm(1) },
            { firstIndex: at(3), term: asTerm(2) },
          ],
          tail,
        },
        cacheBounds,
      );
    expect(load(entries.slice(1)).pointAt(at(2))).toEqual(entries[1]);
    expect(load([]).last.index).toBe(3);
    expect(() => load(entries.slice(0, 2))).toThrow(InvariantError);
    const damaged = { ...entries[1]!, data: Buffer.from('x') };
    expect(() => load([entries[0]!, damaged, entries[2]!])).toThrow(InvariantError);
  });
});

function entriesOf(...terms: number[]): Entry[] {
  const entries: Entry[] = [];
  let last: LogPoint = logOrigin;
  for (const term of terms) {
    const entry = entryAfter(last, asTerm(term), 'empty', Buffer.alloc(0));
    entries.push(entry);
    last = entry;
  }
  return entries;
}

function logOf(...terms: number[]): RaftLog {
  const log = new RaftLog({ start: logOrigin, last: logOrigin, terms: [], tail: [] }, cacheBounds);
  for (const entry of entriesOf(...terms)) log.append(entry);
  return log;
}
