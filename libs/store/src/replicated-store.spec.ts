import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@orch/component';
import { ManualClock, MemoryDisk, MemoryLog } from '@orch/raft';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStore, type ReplicatedStore } from './replicated-store.js';
import type { StoreOptions } from './store-options.js';
import {
  commit,
  exact,
  put,
  QUORUM,
  quietLogger,
  showList,
  until,
  WatchRecorder,
} from './testing/harness.js';
import type { Revision, StoreError } from './versioned-store.js';

const A = 'core/pods/ns/a';
const B = 'core/pods/ns/b';

describe('ReplicatedStore', () => {
  let directory: string;
  let log: MemoryLog;
  let store: ReplicatedStore;
  let clock: Clock;
  const disk = () => log.disk;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'store-'));
    clock = systemClock;
  });

  afterEach(async () => {
    await store.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function open(options: Partial<StoreOptions> = {}, memoryDisk = new MemoryDisk()) {
    log = new MemoryLog(memoryDisk);
    store = createStore({
      directory,
      log,
      clock,
      logger: quietLogger,
      onFatal: (error) => {
        throw error;
      },
      options,
    });
    await store.start();
  }

  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'succeeded',
      (error: StoreError) => error.code,
    );

  it('proposes again what may be lost, and applies it once', async () => {
    await open();
    log.unknownOutcomes = 1;
    const result = await commit(store, put(A, 'one'));
    expect(result.revision).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect((await commit(store, put(A, 'two'))).revision).toBe(2);
  });

  it('remembers over a restart what it has applied', async () => {
    await open();
    await commit(store, put(A, 'one'));
    await commit(store, put(A, 'two'));
    const [first] = disk().commands;
    await store.stop();
    await open({}, disk());
    await log.propose(first!, Number.MAX_VALUE);
    expect(store.stateHash()).toMatchObject({ appliedIndex: 3, revision: 2 });
  });

  it('cuts from the log only what its own disk has', async () => {
    const cuts: { state: string; disk: MemoryDisk }[] = [];
    await open({ logKeepEntries: 20 });
    const { truncate } = log;
    log.truncate = async (index) => {
      await truncate.call(log, index);
      // What a crash at this moment would leave.
      const state = `${directory}-cut${cuts.length}`;
      cpSync(directory, state, { recursive: true });
      const left = new MemoryDisk();
      left.firstIndex = disk().firstIndex;
      left.commands.push(...disk().commands);
      cuts.push({ state, disk: left });
    };
    // Without a pause, so that the log is always ahead of the disk.
    for (let round = 0; cuts.length < 4; round += 1) {
      await Promise.all(
        Array.from({ length: 30 }, (_, at) => commit(store, put(`${A}${at}`, `${round}`))),
      );
    }
    await store.stop();
    const whole = directory;
    for (const cut of cuts) {
      directory = cut.state;
      await open({}, cut.disk);
      expect(store.revision()).toBe(cut.disk.lastIndex);
      await store.stop();
      await rm(cut.state, { recursive: true });
    }
    directory = whole;
  });

  it('does not know the outcome when the log crashes under it', async () => {
    await open();
    const lost = codeOf(store.commit([put(A, 'lost')], 5_000));
    const kept = codeOf(store.commit([put(B, 'kept')], 5_000));
    await Promise.resolve();
    log.crash(1);
    expect([await lost, await kept]).toEqual(['OutcomeUnknown', 'OutcomeUnknown']);
    await store.stop();
    await open({}, disk());
    expect(showList(await store.list('', QUORUM))).toHaveLength(1);
    expect(store.revision()).toBe(1);
  });

  it('says what is certain: without a quorum nothing was taken', async () => {
    await open();
    await commit(store, put(A, 'one'));
    log.noQuorum = true;
    expect(await codeOf(store.commit([put(A, 'two')], 100))).toBe('Unavailable');
    expect(await codeOf(store.get(A, QUORUM))).toBe('Unavailable');
    expect(
      (await store.get(A, { consistency: { kind: 'any' }, timeoutMs: 1 })).entry,
    ).toBeDefined();
    expect(store.status()).toMatchObject({ ready: true, reason: 'no quorum' });
  });

  it('bounds the commits under way', async () => {
    await open({ pendingCommitsMax: 2 });
    const codes = await Promise.all(
      [1, 2, 3].map((at) => codeOf(store.commit([put(`${A}${at}`, 'x')], 5_000))),
    );
    expect(codes).toEqual(['succeeded', 'succeeded', 'Overloaded']);
  });

  it('takes deletions, but nothing more, when the quota is used up', async () => {
    await open({ quotaBytes: 100 });
    await commit(store, put(A, 'x'.repeat(60)));
    expect(await codeOf(store.commit([put(B, 'x'.repeat(60))], 5_000))).toBe('NoSpace');
    await commit(store, { kind: 'delete', key: A });
    await store.compact(store.revision());
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await commit(store, put(B, 'x'.repeat(60)));
  });

  it('keeps history for its retention and drops it then, but only as the leader', async () => {
    const manual = new ManualClock();
    clock = manual;
    await open({ historyRetentionMs: 60_000, compactionIntervalMs: 10_000 });
    await commit(store, put(A, 'one'));
    await commit(store, put(A, 'two'));
    await manual.advance(30_000);
    await commit(store, put(A, 'three'));
    expect(store.revisionBefore(29_000)).toBe(2);
    await manual.advance(29_000);
    expect(store.status().compactedRevision).toBe(0);
    log.role = 'follower';
    await manual.advance(20_000);
    expect(store.status().compactedRevision).toBe(0);
    log.role = 'leader';
    await manual.advance(5_000);
    expect(store.status().compactedRevision).toBe(2);
    expect(showList(await store.list('', exact(2)))).toHaveLength(1);
  });

  it('lists one moment, however long it takes and whatever is written meanwhile', async () => {
    await open({ ringEventsMax: 100 });
    const count = 12_000;
    const keys = Array.from({ length: count }, (_, at) => `core/pods/ns/${100_000 + at}`);
    // From the end, so that what a list has not come to yet changes under it.
    const writeAll = async (text: string) => {
      for (let end = count; end > 0; end -= 500) {
        await commit(store, ...keys.slice(end - 500, end).map((key) => put(key, text)));
      }
    };
    await writeAll('old');
    const before = store.revision();
    let turns = 0;
    let listing = true;
    const tick = () => {
      turns += 1;
      if (listing) setImmediate(tick);
    };
    setImmediate(tick);
    const [latest, overwritten] = await Promise.all([
      store.list('core/pods/', QUORUM),
      writeAll('new').then(async () => {
        const old = store.list('core/pods/', exact(before));
        await commit(store, { kind: 'delete', key: keys[5_000]! }, put(`${keys[11_000]}a`, 'new'));
        return old;
      }),
    ]);
    listing = false;
    for (const list of [latest, overwritten]) {
      expect(list.entries.map(({ key }) => key)).toEqual(keys);
      expect(list.entries.every(({ bytes }) => bytes.includes('old'))).toBe(true);
      expect(list.entries.every(({ revision }) => revision <= list.revision)).toBe(true);
    }
    expect(overwritten.revision).toBe(before);
    expect(turns).toBeGreaterThan(40);
  });

  it('ends a watch that a compaction overtakes', async () => {
    await open({ ringEventsMax: 1 });
    for (let at = 0; at < 20; at += 1) await commit(store, put(A, `${at}`));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const recorder = new WatchRecorder(store, '', 0);
    await store.compact(store.revision());
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
    await open(options);
    for (let i = 0; i < 8; i += 1) await commit(store, put(A, 'x'.repeat(512 * 1024)));
    const waiting: (() => void)[] = [];
    let room = 0;
    const slow: Revision[] = [];
    // More of them than are served at a time.
    const handles = Array.from({ length: 12 }, (_, index) =>
      store.watch({
        prefix: A,
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
    const quick = new WatchRecorder(store, A, 0);
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

  it('ends only the watch whose callback throws', async () => {
    await open();
    const ended: string[] = [];
    const error = console.error;
    console.error = () => undefined;
    store.watch({
      prefix: '',
      afterRevision: store.revision(),
      onEvents: () => {
        throw new Error('a bug of the caller');
      },
      onEnd: ({ code }) => ended.push(code),
    });
    const healthy = new WatchRecorder(store, '', 0);
    await commit(store, put(A, 'one'));
    console.error = error;
    expect(ended).toEqual(['Unavailable']);
    expect(healthy.events).toHaveLength(1);
  });

  it('has the same hash after a restart and on another replica', async () => {
    await open();
    for (let at = 0; at < 10; at += 1) await commit(store, put(`${A}${at % 3}`, `${at}`));
    const hash = store.stateHash();
    const replayed = new MemoryDisk();
    replayed.commands.push(...disk().commands);
    await store.stop();
    await open({}, disk());
    expect(store.stateHash()).toEqual(hash);
    await store.stop();
    await rm(directory, { recursive: true, force: true });
    await open({}, replayed);
    expect(store.stateHash()).toEqual(hash);
  });

  it('refuses what no caller may ask', async () => {
    await open();
    await expect(store.commit([put('pods', 'x')], 100)).rejects.toThrow(RangeError);
    await expect(store.commit([put(A, 'x'), put(A, 'y')], 100)).rejects.toThrow(/changed twice/);
    const endless = { kind: 'put', key: A, bytes: Buffer.from('x'), timeToLiveMs: 0.5 } as const;
    await expect(store.commit([endless], 100)).rejects.toThrow(/time to live/);
    const unreachable = { kind: 'revision', revision: (2 ** 60) as Revision } as const;
    const conflict = await store.commit([{ kind: 'delete', key: A, expect: unreachable }], 100);
    expect(conflict.succeeded).toBe(false);
    const outside = { kind: 'put', key: A, bytes: Buffer.from('x'), revisionOffset: 2 } as const;
    await expect(store.commit([outside], 100)).rejects.toThrow(RangeError);
    expect(await codeOf(store.commit([put(`core/pods/${'x'.repeat(1_100)}`, 'x')], 100))).toBe(
      'TooLarge',
    );
  });
});
