/**
 * The suite that every implementation of `VersionedStore` passes. Call `describeVersionedStore` in a
 * spec file, with a factory of empty stores.
 */
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Operation, Revision, StoreError, VersionedStore } from '../versioned-store.js';
import {
  commit,
  exact,
  object,
  objectAt,
  put,
  QUORUM,
  read,
  type StoreHarness,
  show,
  showEvent,
  showList,
  until,
  WAIT_MS,
  WatchRecorder,
} from './harness.js';
import { NaiveStore } from './naive-store.js';

const PODS = 'core/pods/';
const A = 'core/pods/ns/a';
const B = 'core/pods/ns/b';
const C = 'core/pods/other/c';

export function describeVersionedStore(
  name: string,
  createHarness: () => Promise<StoreHarness>,
  /** Random histories compared with the naive twin. */
  historyCount = 12,
): void {
  describe(name, () => {
    let harness: StoreHarness;
    let store: VersionedStore;

    beforeEach(async () => {
      harness = await createHarness();
      store = await harness.open();
    });

    afterEach(async () => {
      await harness.destroy();
    });

    async function reopen(): Promise<void> {
      await store.stop();
      store = await harness.open();
    }

    const fails = (promise: Promise<unknown>) =>
      promise.then(
        () => 'succeeded',
        (error: StoreError) => error.code,
      );

    describe('commits', () => {
      it('numbers commits from 1 and writes the revision into the bytes', async () => {
        const first = await commit(store, put(A, 'one'));
        const second = await commit(store, put(A, 'two'));
        expect(first.revision).toBe(1);
        expect(first.entries.map(show)).toEqual([`${A}@1/1 ${objectAt('one', 1)}`]);
        expect(second.entries.map(show)).toEqual([`${A}@1/2 ${objectAt('two', 2)}`]);
        expect(store.revision()).toBe(2);
      });

      it('takes effect as a whole or not at all', async () => {
        await commit(store, put(A, 'one'));
        const result = await store.commit(
          [put(B, 'b'), { kind: 'check', key: A, expect: { kind: 'absent' } }],
          WAIT_MS,
        );
        expect(result).toMatchObject({ succeeded: false, revision: 1, failedOperation: 1 });
        expect(!result.succeeded && show(result.current)).toBe(`${A}@1/1 ${objectAt('one', 1)}`);
        expect(showList(await store.list('', QUORUM))).toHaveLength(1);
        const both = await commit(store, put(B, 'b'), put(C, 'c'));
        expect(both.entries.map((entry) => entry?.revision)).toEqual([2, 2]);
      });

      it('compares with the revision of the key', async () => {
        await commit(store, put(A, 'one'));
        await commit(store, put(B, 'one'));
        const stale = { kind: 'revision', revision: 2 as Revision } as const;
        const right = { kind: 'revision', revision: 1 as Revision } as const;
        const change = { kind: 'put', key: A, ...object('two') } as const;
        expect((await store.commit([{ ...change, expect: stale }], WAIT_MS)).succeeded).toBe(false);
        expect((await store.commit([{ ...change, expect: right }], WAIT_MS)).succeeded).toBe(true);
        const again = await store.commit([{ ...change, expect: right }], WAIT_MS);
        expect(again).toMatchObject({ succeeded: false, failedOperation: 0, revision: 3 });
      });

      it('counts no revision for what changes nothing', async () => {
        await commit(store, put(A, 'one'));
        const result = await commit(store, { kind: 'delete', key: B });
        expect(result).toMatchObject({ revision: 1, entries: [undefined] });
        const check = { kind: 'check', key: A, expect: { kind: 'revision', revision: 1 } } as const;
        expect((await commit(store, check as Operation)).revision).toBe(1);
      });

      it('gives the deletion its own revision, with or without a last version', async () => {
        await commit(store, put(A, 'one'), put(B, 'one'));
        const plain = await commit(store, { kind: 'delete', key: A });
        const final = object('final');
        const last = await commit(store, {
          kind: 'delete',
          key: B,
          lastBytes: final.bytes,
          revisionOffset: final.revisionOffset,
        });
        expect(plain.entries.map(show)).toEqual([`${A}@1/2 ${objectAt('one', 2)}`]);
        expect(last.entries.map(show)).toEqual([`${B}@1/3 ${objectAt('final', 3)}`]);
        expect((await store.get(A, QUORUM)).entry).toBeUndefined();
        expect(show((await commit(store, put(A, 'new'))).entries[0])).toContain(`${A}@4/4`);
      });

      it('lets exactly one of many racing creations win', async () => {
        const results = await Promise.all(
          Array.from({ length: 40 }, (_, at) =>
            store.commit(
              [{ kind: 'put', key: A, ...object(`${at}`), expect: { kind: 'absent' } }],
              WAIT_MS,
            ),
          ),
        );
        expect(results.filter(({ succeeded }) => succeeded)).toHaveLength(1);
        expect(store.revision()).toBe(1);
      });

      it('keeps its own copy of the bytes', async () => {
        const bytes = Buffer.from('before');
        const committed = store.commit([{ kind: 'put', key: A, bytes }], WAIT_MS);
        bytes.fill('x');
        await committed;
        expect((await store.get(A, QUORUM)).entry?.bytes.toString()).toBe('before');
      });

      it('refuses what is too large', async () => {
        const bytes = Buffer.alloc(1.5 * 1024 * 1024 + 1);
        expect(await fails(store.commit([{ kind: 'put', key: A, bytes }], WAIT_MS))).toBe(
          'TooLarge',
        );
        const largest = bytes.subarray(1);
        expect((await commit(store, { kind: 'put', key: A, bytes: largest })).revision).toBe(1);
      });

      it('deletes keys after their time to live, and tells watches', async () => {
        const recorder = new WatchRecorder(store, PODS, 0);
        await commit(store, { kind: 'put', key: B, ...object('long'), timeToLiveMs: 3_600_000 });
        await commit(store, { kind: 'put', key: A, ...object('brief'), timeToLiveMs: 1 });
        await until(() => recorder.events.length === 3, 'the key has expired');
        expect(recorder.events.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
          `put ${B}`,
          `put ${A}`,
          `delete ${A}`,
        ]);
        expect(showList(await store.list(PODS, QUORUM))).toHaveLength(1);
      });

      it('survives a stop', async () => {
        await commit(store, put(A, 'one'), put(B, 'two'));
        await commit(store, { kind: 'delete', key: A });
        await reopen();
        expect(store.revision()).toBe(2);
        expect(showList(await store.list('', QUORUM))).toEqual([`${B}@1/1 ${objectAt('two', 1)}`]);
        expect((await commit(store, put(C, 'three'))).revision).toBe(3);
        expect(store.status()).toMatchObject({ ready: true, keyCount: 2, revision: 3 });
      });
    });

    describe('reads', () => {
      it('waits for a revision, and no longer than allowed', async () => {
        await commit(store, put(A, 'one'));
        const coming = store.get(A, read({ kind: 'notOlderThan', revision: 2 as Revision }));
        await commit(store, put(A, 'two'));
        expect(show((await coming).entry)).toContain('two');
        const never = read({ kind: 'notOlderThan', revision: 9 as Revision }, 30);
        expect(await fails(store.get(A, never))).toBe('FutureRevision');
        const future = read({ kind: 'exact', revision: 9 as Revision }, 30);
        expect(await fails(store.list('', future))).toBe('FutureRevision');
      });

      it('pages in key order and counts what remains', async () => {
        const keys = Array.from(
          { length: 25 },
          (_, at) => `core/pods/ns/p${String(at).padStart(2, '0')}`,
        );
        for (const key of keys) await commit(store, put(key, key));
        await commit(store, put('core/podtemplates/ns/x', 'x'));
        const seen: string[] = [];
        const remaining: number[] = [];
        let startAfter: string | undefined;
        do {
          const page = await store.list(PODS, {
            ...exact(25),
            limit: 10,
            ...(startAfter === undefined ? {} : { startAfter }),
          });
          seen.push(...page.entries.map(({ key }) => key));
          remaining.push(page.remainingCount);
          startAfter = page.remainingCount > 0 ? page.entries.at(-1)?.key : undefined;
          await commit(store, put(`core/pods/ns/p${seen.length}x`, 'between'));
          if (seen.length < 20) await commit(store, { kind: 'delete', key: keys[22]! });
        } while (startAfter !== undefined);
        expect(seen).toEqual(keys);
        expect(remaining).toEqual([15, 5, 0]);
        const page = await store.list(PODS, { ...QUORUM, limit: 10 });
        expect(page.entries).toHaveLength(10);
        expect(page.remainingCount).toBe(17);
      });

      it('tells what was compacted and what is still exact', async () => {
        await commit(store, put(A, 'one'));
        await commit(store, put(A, 'two'));
        await commit(store, { kind: 'delete', key: A });
        await commit(store, put(A, 'four'));
        await store.compact(2 as Revision);
        expect(store.status().compactedRevision).toBe(2);
        expect(await fails(store.list('', exact(1)))).toBe('Compacted');
        expect(showList(await store.list('', exact(2)))).toEqual([
          `${A}@1/2 ${objectAt('two', 2)}`,
        ]);
        expect(showList(await store.list('', exact(3)))).toEqual([]);
        expect(() => new WatchRecorder(store, '', 1)).toThrowError(
          expect.objectContaining({ code: 'Compacted', revision: 2 }),
        );
        const recorder = await new WatchRecorder(store, '', 2).reached(4);
        expect(recorder.events.map(({ kind }) => kind)).toEqual(['delete', 'put']);
        expect(await fails(store.compact(9 as Revision))).toBe('FutureRevision');
        await reopen();
        expect(showList(await store.list('', exact(2)))).toEqual([
          `${A}@1/2 ${objectAt('two', 2)}`,
        ]);
        expect(await fails(store.get(A, exact(1)))).toBe('Compacted');
      });
    });

    describe('watches', () => {
      it('delivers at apply, before the commit is answered', async () => {
        const recorder = new WatchRecorder(store, PODS, 0);
        await commit(store, put(A, 'one'));
        expect(recorder.show()).toEqual([`1 put ${A} - -> ${A}@1/1 ${objectAt('one', 1)}`]);
        await commit(store, put('core/services/ns/s', 'other'));
        expect(recorder.handle.revision).toBe(2);
        expect(recorder.events).toHaveLength(1);
      });

      it('selects by prefix, and a whole key with what is below it', async () => {
        const keys = [A, `${A}b`, B, C, 'core/podsx/ns/a', '/pods/ns/a'];
        const prefixes = ['', 'core/', 'core/pods', PODS, 'core/pods/ns/', A];
        const recorders = prefixes.map((prefix) => new WatchRecorder(store, prefix, 0));
        for (const key of keys) await commit(store, put(key, 'x'));
        const late = prefixes.map((prefix) => new WatchRecorder(store, prefix, 0));
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
          store.watch({
            prefix: '',
            afterRevision: 0 as Revision,
            onEvents: (events) => calls.push(events.map(showEvent)),
            onEnd: () => undefined,
          });
        watch();
        await commit(store, put(A, 'a'), put(B, 'b'), put(C, 'c'));
        expect(calls.map((call) => call.length)).toEqual([3]);
        await reopen();
        const again = watch();
        await until(() => again.revision === 1, 'the watch has caught up');
        expect(calls.map((call) => call.length)).toEqual([3, 3]);
        expect(calls[1]).toEqual(calls[0]);
      });

      it('resumes anywhere, while commits go on', async () => {
        const reference = new WatchRecorder(store, PODS, 0);
        for (let at = 0; at < 30; at += 1) await commit(store, put(A, `${at}`));
        const recorders: WatchRecorder[] = [];
        const writing = Promise.all(
          Array.from({ length: 60 }, (_, at) => commit(store, put(B, `${at}`))),
        );
        for (let from = 0; from <= 30; from += 3) {
          recorders.push(new WatchRecorder(store, PODS, from));
          await new Promise((resolve) => setImmediate(resolve));
        }
        await writing;
        for (const [at, recorder] of recorders.entries()) {
          await recorder.reached(90);
          expect(recorder.show()).toEqual(reference.show().slice(at * 3));
        }
      });

      it('refuses the future and ends at the stop', async () => {
        expect(() => new WatchRecorder(store, '', 1)).toThrowError(
          expect.objectContaining({ code: 'FutureRevision' }),
        );
        const recorder = new WatchRecorder(store, '', 0);
        const closed = new WatchRecorder(store, '', 0);
        closed.handle.close();
        await commit(store, put(A, 'one'));
        await reopen();
        expect(recorder.ended).toMatchObject({ code: 'Stopped' });
        expect(closed.ended).toBeUndefined();
        expect(closed.events).toEqual([]);
      });

      it('may be opened and closed from within a callback', async () => {
        let inner: WatchRecorder | undefined;
        const outer = store.watch({
          prefix: '',
          afterRevision: 0 as Revision,
          onEvents: () => {
            inner ??= new WatchRecorder(store, '', 0);
            outer.close();
          },
          onEnd: () => undefined,
        });
        await commit(store, put(A, 'one'));
        await commit(store, put(A, 'two'));
        await inner?.reached(2);
        expect(inner?.events.map(({ revision }) => revision)).toEqual([1, 2]);
      });
    });

    it('equals its naive twin at every revision, through restarts', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(arbitraryStep, { minLength: 1, maxLength: 40 }),
          async (steps) => {
            await harness.destroy();
            harness = await createHarness();
            store = await harness.open();
            await compareWithTwin(steps);
          },
        ),
        { numRuns: historyCount, endOnFailure: true },
      );
    });

    async function compareWithTwin(steps: readonly Step[]): Promise<void> {
      const twin = new NaiveStore();
      let recorders: { from: number; recorder: WatchRecorder }[] = [];
      const check = async () => {
        for (const { from, recorder } of recorders) {
          await recorder.reached(twin.revision);
          expect(recorder.show()).toEqual(twin.events(PODS, from));
        }
      };
      for (const step of steps) {
        if (step.kind === 'restart') {
          await check();
          recorders = [];
          await reopen();
        } else if (step.kind === 'watch') {
          const from = Math.floor(step.share * twin.revision);
          recorders.push({ from, recorder: new WatchRecorder(store, PODS, from) });
        } else {
          const { succeeded, revision } = await store.commit(step.operations, WAIT_MS);
          expect(succeeded).toBe(twin.commit(step.operations));
          expect(revision).toBe(twin.revision);
        }
      }
      await check();
      for (let revision = 0; revision <= twin.revision; revision += 1) {
        for (const prefix of ['', PODS, 'core/pods/ns/']) {
          const found = await store.list(prefix, exact(revision));
          expect(showList(found)).toEqual(twin.list(prefix, revision));
        }
      }
    }
  });
}

type Step =
  | { readonly kind: 'commit'; readonly operations: Operation[] }
  | { readonly kind: 'watch'; readonly share: number }
  | { readonly kind: 'restart' };

const arbitraryKey = fc.constantFrom(
  A,
  B,
  C,
  'core/pods/ns/a2',
  'apps/deployments/ns/d',
  'core/nodes/n',
);
const arbitraryExpectation = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant({ kind: 'absent' } as const) },
  {
    weight: 2,
    arbitrary: fc
      .integer({ min: 1, max: 20 })
      .map((revision) => ({ kind: 'revision', revision: revision as Revision }) as const),
  },
);
const arbitraryOperation: fc.Arbitrary<Operation> = fc
  .tuple(
    arbitraryKey,
    fc.constantFrom('put', 'put', 'delete', 'final'),
    fc.nat(99),
    arbitraryExpectation,
  )
  .map(([key, kind, text, expected]): Operation => {
    const condition = expected ? { expect: expected } : {};
    const { bytes, revisionOffset } = object(`${text}`);
    if (kind === 'put') return { kind, key, bytes, revisionOffset, ...condition };
    if (kind === 'delete') return { kind, key, ...condition };
    return { kind: 'delete', key, lastBytes: bytes, revisionOffset, ...condition };
  });
const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .uniqueArray(arbitraryOperation, { minLength: 1, maxLength: 3, selector: ({ key }) => key })
      .map((operations): Step => ({ kind: 'commit', operations })),
  },
  {
    weight: 3,
    arbitrary: fc
      .double({ min: 0, max: 1, noNaN: true })
      .map((share): Step => ({ kind: 'watch', share })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
);
