/** Contract of `VersionedStore`. Watches: order, selection, resumption. */
import { describe, expect, it } from 'vitest';
import type { Revision } from '../versioned-store.js';
import { type ContractSuite, keyA, keyB, keyC, podsPrefix } from './contract-suite.js';
import { commit, objectAt, put, showEvent, until, WatchRecorder } from './harness.js';

export function describeWatches(suite: ContractSuite): void {
  describe('watches', () => {
    it('delivers events before the commit resolves', async () => {
      const recorder = new WatchRecorder(suite.store, podsPrefix, 0);
      await commit(suite.store, put(keyA, 'one'));
      expect(recorder.show()).toEqual([`1 put ${keyA} - -> ${keyA}@1/1 ${objectAt('one', 1)}`]);
      await commit(suite.store, put('core/services/ns/s', 'other'));
      expect(recorder.handle.revision).toBe(2);
      expect(recorder.events).toHaveLength(1);
    });

    it('selects by prefix, or a whole key and the keys below it', async () => {
      const keys = [keyA, `${keyA}b`, keyB, keyC, 'core/podsx/ns/a', '/pods/ns/a'];
      const prefixes = ['', 'core/', 'core/pods', podsPrefix, 'core/pods/ns/', keyA];
      const recorders = prefixes.map((prefix) => new WatchRecorder(suite.store, prefix, 0));
      for (const key of keys) await commit(suite.store, put(key, 'x'));
      const late = prefixes.map((prefix) => new WatchRecorder(suite.store, prefix, 0));
      for (const all of [recorders, late]) {
        for (const recorder of all) await recorder.reached(6);
        expect(all.map(({ events }) => events.map(({ revision }) => revision))).toEqual([
          [1, 2, 3, 4, 5, 6],
          [1, 2, 3, 4, 5],
          [1, 2, 3, 4],
          [1, 2, 3, 4],
          [1, 2, 3],
          [1],
        ]);
      }
    });

    it('never splits a commit', async () => {
      const calls: string[][] = [];
      const watch = () =>
        suite.store.watch({
          prefix: '',
          afterRevision: 0 as Revision,
          onEvents: (events) => calls.push(events.map(showEvent)),
          onEnd: () => undefined,
        });
      watch();
      await commit(suite.store, put(keyA, 'a'), put(keyB, 'b'), put(keyC, 'c'));
      expect(calls.map((call) => call.length)).toEqual([3]);
      await suite.reopen();
      const again = watch();
      await until(() => again.revision === 1, 'the watch has caught up');
      expect(calls.map((call) => call.length)).toEqual([3, 3]);
      expect(calls[1]).toEqual(calls[0]);
    });

    it('resumes at any revision during commits', async () => {
      const reference = new WatchRecorder(suite.store, podsPrefix, 0);
      for (let at = 0; at < 30; at += 1) await commit(suite.store, put(keyA, `${at}`));
      const recorders: WatchRecorder[] = [];
      const writing = Promise.all(
        Array.from({ length: 60 }, (_, at) => commit(suite.store, put(keyB, `${at}`))),
      );
      for (let from = 0; from <= 30; from += 3) {
        recorders.push(new WatchRecorder(suite.store, podsPrefix, from));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writing;
      for (const [at, recorder] of recorders.entries()) {
        await recorder.reached(90);
        expect(recorder.show()).toEqual(reference.show().slice(at * 3));
      }
    });

    it('rejects future revisions and ends when the store stops', async () => {
      expect(() => new WatchRecorder(suite.store, '', 1)).toThrowError(
        expect.objectContaining({ code: 'FutureRevision' }),
      );
      const recorder = new WatchRecorder(suite.store, '', 0);
      const closed = new WatchRecorder(suite.store, '', 0);
      closed.handle.close();
      await commit(suite.store, put(keyA, 'one'));
      await suite.reopen();
      expect(recorder.ended).toMatchObject({ code: 'Stopped' });
      expect(closed.ended).toBeUndefined();
      expect(closed.events).toEqual([]);
    });

    it('opens and closes from within a callback', async () => {
      let inner: WatchRecorder | undefined;
      const outer = suite.store.watch({
        prefix: '',
        afterRevision: 0 as Revision,
        onEvents: () => {
          inner ??= new WatchRecorder(suite.store, '', 0);
          outer.close();
        },
        onEnd: () => undefined,
      });
      await commit(suite.store, put(keyA, 'one'));
      await commit(suite.store, put(keyA, 'two'));
      await inner?.reached(2);
      expect(inner?.events.map(({ revision }) => revision)).toEqual([1, 2]);
    });
  });
}
