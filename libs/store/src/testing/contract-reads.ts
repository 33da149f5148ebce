/** Contract of `VersionedStore`. Reads: consistency, pages, compacted revisions. */
import { describe, expect, it } from 'vitest';
import type { Revision } from '../versioned-store.js';
import { type ContractSuite, keyA, podsPrefix } from './contract-suite.js';
import {
  codeOf,
  commit,
  exact,
  objectAt,
  put,
  quorumRead,
  read,
  show,
  showList,
  WatchRecorder,
} from './harness.js';

export function describeReads(suite: ContractSuite): void {
  describe('reads', () => {
    it('waits for a revision until the deadline', async () => {
      await commit(suite.store, put(keyA, 'one'));
      const coming = suite.store.get(keyA, read({ kind: 'notOlderThan', revision: 2 as Revision }));
      await commit(suite.store, put(keyA, 'two'));
      expect(show((await coming).entry)).toContain('two');
      const never = read({ kind: 'notOlderThan', revision: 9 as Revision }, 30);
      expect(await codeOf(suite.store.get(keyA, never))).toBe('FutureRevision');
      const future = read({ kind: 'exact', revision: 9 as Revision }, 30);
      expect(await codeOf(suite.store.list('', future))).toBe('FutureRevision');
    });

    it('pages in key order and counts what remains', async () => {
      const keys = Array.from(
        { length: 25 },
        (_, at) => `core/pods/ns/p${String(at).padStart(2, '0')}`,
      );
      for (const key of keys) await commit(suite.store, put(key, key));
      await commit(suite.store, put('core/podtemplates/ns/x', 'x'));
      const seen: string[] = [];
      const remaining: number[] = [];
      let startAfter: string | undefined;
      do {
        const page = await suite.store.list(podsPrefix, {
          ...exact(25),
          limit: 10,
          ...(startAfter === undefined ? {} : { startAfter }),
        });
        seen.push(...page.entries.map(({ key }) => key));
        remaining.push(page.remainingCount);
        startAfter = page.remainingCount > 0 ? page.entries.at(-1)?.key : undefined;
        await commit(suite.store, put(`core/pods/ns/p${seen.length}x`, 'between'));
        if (seen.length < 20) await commit(suite.store, { kind: 'delete', key: keys[22]! });
      } while (startAfter !== undefined);
      expect(seen).toEqual(keys);
      expect(remaining).toEqual([15, 5, 0]);
      const page = await suite.store.list(podsPrefix, { ...quorumRead, limit: 10 });
      expect(page.entries).toHaveLength(10);
      expect(page.remainingCount).toBe(17);
    });

    it('rejects compacted revisions and reads later ones exactly', async () => {
      await commit(suite.store, put(keyA, 'one'));
      await commit(suite.store, put(keyA, 'two'));
      await commit(suite.store, { kind: 'delete', key: keyA });
      await commit(suite.store, put(keyA, 'four'));
      await suite.store.compact(2 as Revision);
      expect([suite.store.compactedRevision(), suite.store.status().compactedRevision]).toEqual([
        2, 2,
      ]);
      expect(await codeOf(suite.store.list('', exact(1)))).toBe('Compacted');
      expect(showList(await suite.store.list('', exact(2)))).toEqual([
        `${keyA}@1/2 ${objectAt('two', 2)}`,
      ]);
      expect(showList(await suite.store.list('', exact(3)))).toEqual([]);
      expect(() => new WatchRecorder(suite.store, '', 1)).toThrowError(
        expect.objectContaining({ code: 'Compacted', revision: 2 }),
      );
      const recorder = await new WatchRecorder(suite.store, '', 2).reached(4);
      expect(recorder.events.map(({ kind }) => kind)).toEqual(['delete', 'put']);
      expect(await codeOf(suite.store.compact(9 as Revision))).toBe('FutureRevision');
      await suite.reopen();
      expect(showList(await suite.store.list('', exact(2)))).toEqual([
        `${keyA}@1/2 ${objectAt('two', 2)}`,
      ]);
      expect(await codeOf(suite.store.get(keyA, exact(1)))).toBe('Compacted');
    });
  });
}
