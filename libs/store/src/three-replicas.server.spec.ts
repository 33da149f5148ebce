import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commit, put, read, showList, until, WatchRecorder, waitMs } from './testing/harness.js';
import { ThreeStores } from './testing/three-stores.js';

const writerCount = 8;

describe('three replicas with their stores', () => {
  let directory: string;
  let three: ThreeStores;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'store-three-'));
  });

  afterEach(async () => {
    await three.stopAll();
    expect(three.fatal).toEqual([]);
    await rm(directory, { recursive: true, force: true });
  });

  async function equal(): Promise<void> {
    const [first, ...others] = three.names.map((name) => three.of(name).store);
    const { revision } = await first!.list('', read({ kind: 'quorum' }));
    const hash = await first!.contentHash(revision, waitMs);
    for (const other of others) expect(await other.contentHash(revision, waitMs)).toEqual(hash);
  }

  it('apply every write once and break no watch while the leader changes', async () => {
    three = new ThreeStores(directory, {});
    await three.start();
    const follower = await three.follower();
    const { store } = three.of(follower);
    const watches = three.names.map(
      (name) => new WatchRecorder(three.of(name).store, 'core/pods/', 0),
    );
    let writing = true;
    let written = 0;
    const write = async (writer: number) => {
      for (let at = 0; writing; at += 1) {
        // A counter: a write that took effect twice, or not at all, would be seen in it.
        const key = `core/pods/ns/w${writer}`;
        const { entry } = await store.get(key, read({ kind: 'quorum' }));
        const expected = entry
          ? ({ kind: 'revision', revision: entry.revision } as const)
          : ({ kind: 'absent' } as const);
        const result = await store.commit([{ ...put(key, `${at}`), expect: expected }], waitMs);
        expect(result.succeeded).toBe(true);
        written += 1;
      }
    };
    const all = Promise.all(Array.from({ length: writerCount }, (_, writer) => write(writer)));
    for (let round = 1; round <= 3; round += 1) {
      const target = round * 100;
      await until(() => written >= target, 'more is written');
      const { log } = three.of(await three.leader());
      await log.transferLeadership(undefined, performance.now() + waitMs);
    }
    writing = false;
    await all;
    expect(store.revision()).toBe(written);
    for (const watch of watches) {
      await watch.reached(written);
      expect(watch.events.map(({ revision }) => revision)).toEqual(
        Array.from({ length: written }, (_, at) => at + 1),
      );
      expect(watch.show()).toEqual(watches[0]!.show());
    }
    await equal();
  });

  it('continue without the leader and send it a snapshot when it is far behind', async () => {
    three = new ThreeStores(directory, { logKeepEntries: 20, ringEventsMax: 10 }, 5);
    await three.start();
    const gone = await three.leader();
    await three.stop(gone);
    const { store } = three.of(await three.follower());
    for (let at = 0; at < 150; at += 1)
      await commit(store, put(`core/pods/ns/p${at % 9}`, `${at}`));
    const leader = three.of(await three.leader());
    await until(() => leader.log.status().firstIndex > 50, 'the log is cut');
    await three.start();
    const back = three.of(gone).store;
    const any = await back.list('', read({ kind: 'any' }));
    expect(showList(any)).toEqual(showList(await store.list('', read({ kind: 'any' }))));
    const past = await new WatchRecorder(back, '', 20).reached(150);
    expect(past.events.map(({ revision }) => revision)).toEqual(
      Array.from({ length: 130 }, (_, at) => at + 21),
    );
    expect((await commit(back, put('core/pods/ns/new', 'x'))).revision).toBe(151);
    await equal();
  });

  it.each([
    ['a log from its first entry', {}],
    ['a compacted log', { logKeepEntries: 20 }],
  ])('replace a damaged state, with %s', async (_, options) => {
    three = new ThreeStores(directory, options, 5);
    await three.start();
    const { store } = three.of('a');
    for (let at = 0; at < 100; at += 1)
      await commit(store, put(`core/pods/ns/p${at % 9}`, `${at}`));
    await three.stop('b');
    const database = new ClassicLevel<Buffer, Buffer>(join(directory, 'b/state/leveldb'), {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
    });
    await database.put(Buffer.from('m/checkpoint'), Buffer.from('not a checkpoint'));
    await database.close();
    const { store: damaged } = await three.begin('b');
    await until(() => damaged.status().ready, 'the state is there again');
    expect(damaged.stateHash().revision).toBe(100);
    expect(three.errors).toEqual([expect.stringContaining('the state database is unusable')]);
    await equal();
  });
});
