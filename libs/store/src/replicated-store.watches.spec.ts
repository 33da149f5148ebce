/** Watches of a replicated store: compaction, back-pressure, restarts, failing callbacks. */
import { FileDisk } from '@orch/raft';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commit, put, until, WatchRecorder } from './testing/harness.js';
import { ReplicatedStoreSetup } from './testing/replicated-store-setup.js';
import type { Revision } from './versioned-store.js';

const keyA = 'core/pods/ns/a';
const keyB = 'core/pods/ns/b';

describe('watches of ReplicatedStore', () => {
  let setup: ReplicatedStoreSetup;

  beforeEach(async () => {
    setup = await ReplicatedStoreSetup.create();
  });

  afterEach(() => setup.destroy());

  it('ends a watch that a compaction overtakes', async () => {
    await setup.open({ ringEventsMax: 1 });
    for (let at = 0; at < 20; at += 1) await commit(setup.store, put(keyA, `${at}`));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const recorder = new WatchRecorder(setup.store, '', 0);
    await setup.store.compact(setup.store.revision());
    for (let turn = 0; turn < 20 && !recorder.ended; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const revisions = recorder.events.map(({ revision }) => revision);
    if (recorder.ended) expect(recorder.ended).toMatchObject({ code: 'Compacted', revision: 20 });
    else expect(revisions).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  it.each([
    ['memory', {}],
    ['disk', { ringEventsMax: 1, ringBytesMax: 1 }],
  ])('gives the past from %s only as it is taken, and others their turn', async (_, options) => {
    await setup.open(options);
    for (let i = 0; i < 8; i += 1) await commit(setup.store, put(keyA, 'x'.repeat(512 * 1024)));
    const waiting: (() => void)[] = [];
    let room = 0;
    const slow: Revision[] = [];
    // More of them than are served at a time.
    const handles = Array.from({ length: 12 }, (_, index) =>
      setup.store.watch({
        prefix: keyA,
        afterRevision: 0 as Revision,
        onEvents: (events) => {
          if (index === 0) slow.push(...events.map(({ revision }) => revision));
        },
        whenReady: () =>
          slow.length < room ? undefined : new Promise((resolve) => waiting.push(resolve)),
        onEnd: (error) => {
          throw error;
        },
      }),
    );
    const quick = new WatchRecorder(setup.store, keyA, 0);
    await quick.reached(8);
    expect(slow).toEqual([]);
    for (room = 1; slow.length < 8; room += 1) {
      for (const resolve of waiting.splice(0)) resolve();
      await until(() => slow.length >= room, 'what there is room for');
      expect(slow.length).toBeLessThan(room + 4);
    }
    expect(slow).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const handle of handles) handle.close();
  });

  it('resumes watches after a restart without reading the disk, from where no commit is missing', async () => {
    await setup.open();
    for (const value of ['1', '2', '3']) await commit(setup.store, put(keyA, value));
    await commit(setup.store, put(keyB, '4'), { kind: 'delete', key: keyA });
    await setup.store.compact(2 as Revision);
    await commit(setup.store, put(keyA, '5'), put(keyB, '5'));
    const before = await new WatchRecorder(setup.store, '', 2).reached(5);
    await setup.store.stop();
    const reads: string[] = [];
    setup.fileDisk = countingDisk(reads);
    await setup.open({}, setup.log.disk);
    reads.length = 0;
    const after = await new WatchRecorder(setup.store, '', 2).reached(5);
    expect(after.show()).toEqual(before.show());
    expect(after.show()).toHaveLength(5);
    expect(reads).toEqual([]);
  });

  it('reads nothing for a watch of a resource that has not changed since', async () => {
    const reads: string[] = [];
    setup.fileDisk = countingDisk(reads);
    await setup.open({ ringEventsMax: 1 });
    await commit(setup.store, put('core/nodes/a', '1'));
    for (let at = 0; at < 20; at += 1) await commit(setup.store, put(keyA, `${at}`));
    // Resolves when all that is applied is on disk, and so out of memory.
    await (await setup.store.openSnapshot()).close();
    reads.length = 0;
    const nodes = await new WatchRecorder(setup.store, 'core/nodes/', 1).reached(21);
    await commit(setup.store, put('core/nodes/b', '1'));
    await nodes.reached(22);
    expect(reads).toEqual([]);
    expect(nodes.events.map(({ revision }) => revision)).toEqual([22]);
  });

  it('ends only the watch whose callback throws', async () => {
    await setup.open();
    const ended: string[] = [];
    const error = console.error;
    console.error = () => undefined;
    setup.store.watch({
      prefix: '',
      afterRevision: setup.store.revision(),
      onEvents: () => {
        throw new Error('a bug of the caller');
      },
      onEnd: ({ code }) => ended.push(code),
    });
    const healthy = new WatchRecorder(setup.store, '', 0);
    await commit(setup.store, put(keyA, 'one'));
    console.error = error;
    expect(ended).toEqual(['Unavailable']);
    expect(healthy.events).toHaveLength(1);
  });
});

/** Notes the name of each method that reads the state database. */
function countingDisk(reads: string[]): FileDisk {
  return new (class extends FileDisk {
    override async openDatabase(...parameters: Parameters<FileDisk['openDatabase']>) {
      const database = await super.openDatabase(...parameters);
      const { getSync, rows } = database;
      database.getSync = (key) => {
        reads.push('getSync');
        return getSync.call(database, key);
      };
      database.rows = (range) => {
        reads.push('rows');
        return rows.call(database, range);
      };
      return database;
    }
  })();
}
