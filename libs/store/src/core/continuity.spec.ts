import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Revision } from '../versioned-store.js';
import { Continuity } from './continuity.js';
import { StoredEntry } from './stored-entry.js';

/**
 * Records of commits with that many operations each; the one of a position is always to the same
 * key.
 */
function records(counts: readonly number[]) {
  const live = new Map<string, number>();
  return counts.flatMap((count, at) =>
    Array.from({ length: count }, (_, position) => {
      const revision = (at + 1) as Revision;
      const key = `core/pods/ns/${position}`;
      const entry = new StoredEntry(key, Buffer.from('{}'), revision, revision, position, 0, 0);
      const previousRevision = live.get(key) ?? 0;
      live.set(key, revision);
      return { entry, deleted: false, last: position === count - 1, previousRevision };
    }),
  );
}

/** The newest revision that lacks a record itself, or the version before one of its records. */
function broken(all: ReturnType<typeof records>, lost: ReadonlySet<number>): number {
  const isLost = (revision: number, position: number) =>
    all.some(({ entry }, at) => {
      return lost.has(at) && entry.revision === revision && entry.position === position;
    });
  const revisions = all
    .filter(({ entry: { revision, position }, previousRevision }) => {
      return isLost(revision, position) || isLost(previousRevision, position);
    })
    .map(({ entry }) => entry.revision);
  return Math.max(0, ...revisions);
}

describe('Continuity', () => {
  it('reports the newest revision that lacks a record or its superseded version, and 0 if none does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (counts, picks) => {
          const all = records(counts);
          const lost = new Set(picks.map((pick) => pick % all.length));
          const live = new Map<string, StoredEntry>();
          const continuity = new Continuity();
          for (const record of all.filter((_, at) => !lost.has(at))) {
            continuity.take(record, live.get(record.entry.key));
            live.set(record.entry.key, record.entry);
          }
          continuity.end(counts.length);
          expect(continuity.brokenRevision).toBe(broken(all, lost));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
