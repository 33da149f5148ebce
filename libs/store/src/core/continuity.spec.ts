import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Revision } from '../versioned-store.js';
import { Continuity } from './continuity.js';
import { StoredEntry } from './stored-entry.js';

/** Records of commits with that many operations each. */
function records(counts: readonly number[]) {
  return counts.flatMap((count, at) =>
    Array.from({ length: count }, (_, position) => {
      const revision = (at + 1) as Revision;
      const key = `core/pods/ns/${position}`;
      const entry = new StoredEntry(key, Buffer.from('{}'), revision, revision, position, 0, 0);
      return { entry, deleted: false, last: position === count - 1 };
    }),
  );
}

describe('Continuity', () => {
  it('names the newest revision of which anything is missing, and 0 when nothing is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (counts, picks) => {
          const all = records(counts);
          const lost = new Set(picks.map((pick) => pick % all.length));
          const continuity = new Continuity();
          for (const [at, record] of all.entries()) if (!lost.has(at)) continuity.take(record);
          continuity.end(counts.length);
          const missing = [...lost].map((at) => all[at]!.entry.revision);
          expect(continuity.missingRevision).toBe(Math.max(0, ...missing));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
