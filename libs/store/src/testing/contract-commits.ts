/** Contract of `VersionedStore`. Commits: conditions, atomicity, limits, expiry. */
import { describe, expect, it } from 'vitest';
import type { Operation, Revision } from '../versioned-store.js';
import { type ContractSuite, keyA, keyB, keyC, podsPrefix } from './contract-suite.js';
import {
  codeOf,
  commit,
  object,
  objectAt,
  put,
  quorumRead,
  show,
  showList,
  until,
  WatchRecorder,
  waitMs,
} from './harness.js';

export function describeCommits(suite: ContractSuite): void {
  describe('commits', () => {
    it('numbers commits from 1 and writes the revision into the bytes', async () => {
      const first = await commit(suite.store, put(keyA, 'one'));
      const second = await commit(suite.store, put(keyA, 'two'));
      expect(first.revision).toBe(1);
      expect(first.entries.map(show)).toEqual([`${keyA}@1/1 ${objectAt('one', 1)}`]);
      expect(second.entries.map(show)).toEqual([`${keyA}@1/2 ${objectAt('two', 2)}`]);
      expect(suite.store.revision()).toBe(2);
    });

    it('takes effect as a whole or not at all', async () => {
      await commit(suite.store, put(keyA, 'one'));
      const result = await suite.store.commit(
        [put(keyB, 'b'), { kind: 'check', key: keyA, expect: { kind: 'absent' } }],
        waitMs,
      );
      expect(result).toMatchObject({ succeeded: false, revision: 1, failedOperation: 1 });
      expect(!result.succeeded && show(result.current)).toBe(`${keyA}@1/1 ${objectAt('one', 1)}`);
      expect(showList(await suite.store.list('', quorumRead))).toHaveLength(1);
      const both = await commit(suite.store, put(keyB, 'b'), put(keyC, 'c'));
      expect(both.entries.map((entry) => entry?.revision)).toEqual([2, 2]);
    });

    it('compares with the revision of the key', async () => {
      await commit(suite.store, put(keyA, 'one'));
      await commit(suite.store, put(keyB, 'one'));
      const stale = { kind: 'revision', revision: 2 as Revision } as const;
      const right = { kind: 'revision', revision: 1 as Revision } as const;
      const change = { kind: 'put', key: keyA, ...object('two') } as const;
      expect((await suite.store.commit([{ ...change, expect: stale }], waitMs)).succeeded).toBe(
        false,
      );
      expect((await suite.store.commit([{ ...change, expect: right }], waitMs)).succeeded).toBe(
        true,
      );
      const again = await suite.store.commit([{ ...change, expect: right }], waitMs);
      expect(again).toMatchObject({ succeeded: false, failedOperation: 0, revision: 3 });
    });

    it('creates no revision when a commit changes nothing', async () => {
      await commit(suite.store, put(keyA, 'one'));
      const result = await commit(suite.store, { kind: 'delete', key: keyB });
      expect(result).toMatchObject({ revision: 1, entries: [undefined] });
      const check = {
        kind: 'check',
        key: keyA,
        expect: { kind: 'revision', revision: 1 },
      } as const;
      expect((await commit(suite.store, check as Operation)).revision).toBe(1);
    });

    it('gives a deletion its own revision with or without a last version', async () => {
      await commit(suite.store, put(keyA, 'one'), put(keyB, 'one'));
      const plain = await commit(suite.store, { kind: 'delete', key: keyA });
      const final = object('final');
      const last = await commit(suite.store, {
        kind: 'delete',
        key: keyB,
        lastBytes: final.bytes,
        revisionOffset: final.revisionOffset,
      });
      expect(plain.entries.map(show)).toEqual([`${keyA}@1/2 ${objectAt('one', 2)}`]);
      expect(last.entries.map(show)).toEqual([`${keyB}@1/3 ${objectAt('final', 3)}`]);
      expect((await suite.store.get(keyA, quorumRead)).entry).toBeUndefined();
      expect(show((await commit(suite.store, put(keyA, 'new'))).entries[0])).toContain(
        `${keyA}@4/4`,
      );
    });

    it('lets exactly one of many concurrent creations succeed', async () => {
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          suite.store.commit(
            [{ kind: 'put', key: keyA, ...object(`${at}`), expect: { kind: 'absent' } }],
            waitMs,
          ),
        ),
      );
      expect(results.filter(({ succeeded }) => succeeded)).toHaveLength(1);
      expect(suite.store.revision()).toBe(1);
    });

    it('stores its own copy of the bytes', async () => {
      const bytes = Buffer.from('before');
      const committed = suite.store.commit([{ kind: 'put', key: keyA, bytes }], waitMs);
      bytes.fill('x');
      await committed;
      expect((await suite.store.get(keyA, quorumRead)).entry?.bytes.toString()).toBe('before');
    });

    it('rejects commits that are too large', async () => {
      const bytes = Buffer.alloc(1.5 * 1024 * 1024 + 1);
      expect(await codeOf(suite.store.commit([{ kind: 'put', key: keyA, bytes }], waitMs))).toBe(
        'TooLarge',
      );
      const largest = bytes.subarray(1);
      expect((await commit(suite.store, { kind: 'put', key: keyA, bytes: largest })).revision).toBe(
        1,
      );
    });

    it('deletes keys after their time to live and notifies watches', async () => {
      const recorder = new WatchRecorder(suite.store, podsPrefix, 0);
      await commit(suite.store, {
        kind: 'put',
        key: keyB,
        ...object('long'),
        timeToLiveMs: 3_600_000,
      });
      await commit(suite.store, { kind: 'put', key: keyA, ...object('brief'), timeToLiveMs: 1 });
      await until(() => recorder.events.length === 3, 'the key has expired');
      expect(recorder.events.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
        `put ${keyB}`,
        `put ${keyA}`,
        `delete ${keyA}`,
      ]);
      expect(showList(await suite.store.list(podsPrefix, quorumRead))).toHaveLength(1);
    });

    it('survives a stop', async () => {
      await commit(suite.store, put(keyA, 'one'), put(keyB, 'two'));
      await commit(suite.store, { kind: 'delete', key: keyA });
      await suite.reopen();
      expect(suite.store.revision()).toBe(2);
      expect(showList(await suite.store.list('', quorumRead))).toEqual([
        `${keyB}@1/1 ${objectAt('two', 1)}`,
      ]);
      expect((await commit(suite.store, put(keyC, 'three'))).revision).toBe(3);
      expect(suite.store.status()).toMatchObject({ ready: true, keyCount: 2, revision: 3 });
    });
  });
}
