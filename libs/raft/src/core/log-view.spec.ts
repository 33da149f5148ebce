import { describe, expect, it } from 'vitest';
import type { LogIndex } from '../replicated-log.js';
import { entryAfter, LOG_ORIGIN } from './entry-checksum.js';
import { InvariantError } from './invariant.js';
import { LogView } from './log-view.js';
import type { Entry, LogPoint, Term } from './types.js';

const at = (index: number): LogIndex => index as LogIndex;
const BOUNDS = { cacheEntriesMax: 4, cacheBytesMax: 1_000_000 };

describe('LogView', () => {
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
    expect(log.pointAt(at(0))).toEqual(LOG_ORIGIN);
  });

  it('takes only what follows', () => {
    const log = logOf(1, 2);
    expect(() => log.append(entryAfter(LOG_ORIGIN, 3, 'empty', Buffer.alloc(0)))).toThrow(
      InvariantError,
    );
    const falling = entryAfter({ ...log.last, term: 1 }, 1, 'empty', Buffer.alloc(0));
    expect(() => log.append(falling)).toThrow(InvariantError);
  });

  it('judges other logs by last term, then by length', () => {
    const log = logOf(1, 2, 2);
    expect(log.isUpToDate(at(3), 2)).toBe(true);
    expect(log.isUpToDate(at(2), 2)).toBe(false);
    expect(log.isUpToDate(at(1), 3)).toBe(true);
    expect(log.isUpToDate(at(9), 1)).toBe(false);
  });

  it('names the last point where two logs may agree', () => {
    const log = logOf(1, 1, 4, 4, 6);
    expect(log.agreementHint(at(5), 4)).toEqual({ index: 4, term: 4 });
    expect(log.agreementHint(at(9), 9)).toEqual({ index: 5, term: 6 });
    expect(log.agreementHint(at(4), 3)).toEqual({ index: 2, term: 1 });
    expect(log.agreementHint(at(4), 0)).toEqual({ index: 0, term: 0 });
  });

  it('goes on from where it was truncated, cut or replaced', () => {
    const log = logOf(1, 1, 2, 2, 3);
    const kept = log.pointAt(at(3))!;
    log.truncateAfter(kept);
    log.append(entryAfter(kept, 7, 'empty', Buffer.alloc(0)));
    expect(log.last).toMatchObject({ index: 4, term: 7 });
    log.cutTo(log.pointAt(at(2))!);
    expect(log.termAt(at(1))).toBeUndefined();
    expect(log.firstIndex).toBe(3);
    expect(() => log.cutTo({ index: at(3), term: 2, checksum: 1 })).toThrow(InvariantError);
    log.reset({ index: at(50), term: 9, checksum: 5 });
    expect(log.last).toMatchObject({ index: 50, term: 9 });
    log.append(entryAfter(log.last, 9, 'empty', Buffer.alloc(0)));
    expect(log.termAt(at(51))).toBe(9);
  });

  it('loads only a tail that is whole', () => {
    const entries = entriesOf(1, 1, 2);
    const load = (tail: Entry[]): LogView =>
      new LogView(
        {
          start: LOG_ORIGIN,
          last: entries[2]!,
          terms: [
            { firstIndex: at(1), term: 1 },
            { firstIndex: at(3), term: 2 },
          ],
          tail,
        },
        BOUNDS,
      );
    expect(load(entries.slice(1)).pointAt(at(2))).toEqual(entries[1]);
    expect(load([]).last.index).toBe(3);
    expect(() => load(entries.slice(0, 2))).toThrow(InvariantError);
    const damaged = { ...entries[1]!, data: Buffer.from('x') };
    expect(() => load([entries[0]!, damaged, entries[2]!])).toThrow(InvariantError);
  });
});

function entriesOf(...terms: Term[]): Entry[] {
  const entries: Entry[] = [];
  let last: LogPoint = LOG_ORIGIN;
  for (const term of terms) {
    const entry = entryAfter(last, term, 'empty', Buffer.alloc(0));
    entries.push(entry);
    last = entry;
  }
  return entries;
}

function logOf(...terms: Term[]): LogView {
  const log = new LogView({ start: LOG_ORIGIN, last: LOG_ORIGIN, terms: [], tail: [] }, BOUNDS);
  for (const entry of entriesOf(...terms)) log.append(entry);
  return log;
}
