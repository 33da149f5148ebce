import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoopClock, systemClock } from '@orch/component';
import { FileDisk, ManualClock, MEMORY_MEMBER, MemoryDisk, MemoryLog } from '@orch/raft';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeCommand } from './core/command.js';
import { PROPOSERS_MAX } from './limits.js';
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

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('ReplicatedStore', () => {
  let directory: string;
  const directories: string[] = [];
  let log: MemoryLog;
  let store: ReplicatedStore;
  let clock: LoopClock;
  let fileDisk: FileDisk;
  const disk = () => log.disk;

  beforeEach(async () => {
    await newDirectory();
    clock = systemClock;
    fileDisk = new FileDisk();
  });

  afterEach(async () => {
    await store.stop();
    for (const made of directories) await rm(made, { recursive: true, force: true });
    directories.length = 0;
  });

  async function open(options: Partial<StoreOptions> = {}, memoryDisk = new MemoryDisk()) {
    log = new MemoryLog(memoryDisk);
    store = storeOver(log, options);
    await store.start();
    await until(() => store.status().ready, 'the store is ready');
  }

  function storeOver(log: MemoryLog, options: Partial<StoreOptions>): ReplicatedStore {
    return createStore({
      directory: join(directory, 'state'),
      disk: fileDisk,
      log,
      clock,
      random: Math.random,
      logger: quietLogger,
      onFatal: (error) => {
        throw error;
      },
      options,
    });
  }

  async function newDirectory(): Promise<void> {
    directory = await mkdtemp(join(tmpdir(), 'store-'));
    directories.push(directory);
  }

  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'succeeded',
      (error: StoreError) => error.code,
    );

  it('proposes again what was lost, after a silence or under another leader', async () => {
    await open();
    log.losing = 1;
    expect((await commit(store, put(A, 'one'))).revision).toBe(1);
    log.losing = 1;
    const committing = commit(store, put(A, 'two'));
    await nextTurn();
    log.lead({ term: 2, leader: MEMORY_MEMBER.id, role: 'leader' });
    expect((await committing).revision).toBe(2);
  });

  it('applies once what the log has twice', async () => {
    await open();
    log.doubling = 1;
    expect((await commit(store, put(A, 'one'))).revision).toBe(1);
    expect((await commit(store, put(A, 'two'))).revision).toBe(2);
  });

  it('tries again after a refusal that passes, and tells of one that does not', async () => {
    await open();
    log.refusing.push('NoLeader', 'NoLeader');
    expect((await commit(store, put(A, 'one'))).revision).toBe(1);
    log.refusing.push('QueueFull');
    expect(await codeOf(store.commit([put(A, 'two')], 5_000))).toBe('Overloaded');
    log.refusing.push('TooLarge');
    expect(await codeOf(store.commit([put(A, 'two')], 5_000))).toBe('TooLarge');
    log.refusing.push('Removed');
    expect(await codeOf(store.commit([put(A, 'two')], 5_000))).toBe('Unavailable');
    expect(store.revision()).toBe(1);
  });

  it('does not call lost what an earlier try may have brought into the log', async () => {
    await open();
    log.hold();
    const committing = codeOf(store.commit([put(A, 'one')], 200));
    log.refusing.push('QueueFull', 'QueueFull', 'QueueFull');
    log.lead({ term: 2, leader: MEMORY_MEMBER.id, role: 'leader' });
    expect(await committing).toBe('OutcomeUnknown');
    log.release();
    await until(() => store.revision() === 1, 'the commit has taken effect after all');
  });

  it('says that it does not know what became of the commits of a forgotten proposer', async () => {
    await open();
    await commit(store, put(A, 'one'));
    log.hold();
    const lost = codeOf(store.commit([put(A, 'two')], 5_000));
    for (let at = 0; at < PROPOSERS_MAX; at += 1) {
      const proposer = (at + 1).toString(16).padStart(16, 'f');
      disk().commands.push(
        encodeCommand({ kind: 'register', id: { proposer, sequence: 0 }, timeMs: 1 }),
      );
    }
    log.release();
    expect(await lost).toBe('OutcomeUnknown');
    expect((await commit(store, put(A, 'three'))).revision).toBe(2);
  });

  it('remembers over a restart what it has applied', async () => {
    await open();
    await commit(store, put(A, 'one'));
    await commit(store, put(A, 'two'));
    const commands = [...disk().commands];
    await store.stop();
    await open({}, disk());
    for (const command of commands) log.append(command);
    await commit(store, { kind: 'delete', key: B });
    expect(store.stateHash().appliedIndex).toBe(commands.length * 2 + 2);
    expect(store.revision()).toBe(2);
  });

  it('reads at once without a quorum, and is not ready', async () => {
    await open();
    await commit(store, put(A, 'one'));
    await store.stop();
    const memoryDisk = disk();
    log = new MemoryLog(memoryDisk);
    log.noQuorum = true;
    store = storeOver(log, {});
    await store.start();
    const read = { consistency: { kind: 'any' }, timeoutMs: 1 } as const;
    await until(() => store.revision() === 1, 'the log of before is applied');
    expect((await store.get(A, read)).entry).toBeDefined();
    expect(store.status()).toMatchObject({ ready: false, reason: 'no quorum' });
    expect(await codeOf(store.commit([put(A, 'two')], 50))).toBe('Unavailable');
    log.noQuorum = false;
    expect((await commit(store, put(A, 'two'))).revision).toBe(2);
    expect(store.status()).toMatchObject({ ready: true });
  });

  it('cuts from the log only what its own disk has', async () => {
    const cuts: { state: string; disk: MemoryDisk; commits: number }[] = [];
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
      // All but the registration of the proposer.
      cuts.push({ state, disk: left, commits: left.lastIndex - 1 });
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
      expect(store.revision()).toBe(cut.commits);
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
    expect(store.status()).toMatchObject({ ready: false, reason: 'no quorum' });
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
    await until(() => store.status().reason === undefined, 'what was deleted is dropped');
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
    log.lead({ term: 2, leader: '00000000000000b1', role: 'follower' });
    await manual.advance(20_000);
    expect(store.status().compactedRevision).toBe(0);
    log.lead({ term: 3, leader: MEMORY_MEMBER.id, role: 'leader' });
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
    const content = await store.contentHash(store.revision(), 1_000);
    await store.stop();
    await open({}, disk());
    const hash = store.stateHash();
    expect(await store.contentHash(store.revision(), 1_000)).toEqual(content);
    const replayed = new MemoryDisk();
    replayed.commands.push(...disk().commands);
    await store.stop();
    await newDirectory();
    log = new MemoryLog(replayed);
    log.noQuorum = true;
    store = storeOver(log, {});
    await store.start();
    await until(() => store.revision() === hash.revision, 'the log is replayed');
    expect(store.stateHash()).toEqual(hash);
    expect(await store.contentHash(store.revision(), 1_000)).toEqual(content);
  });

  it('says that the disk cannot be read, and goes on from memory', async () => {
    let failing = false;
    fileDisk = new (class extends FileDisk {
      override async openDatabase(...parameters: Parameters<FileDisk['openDatabase']>) {
        const database = await super.openDatabase(...parameters);
        const { getSync } = database;
        database.getSync = (key) => {
          if (failing) throw Object.assign(new Error('i/o error, read'), { code: 'EIO' });
          return getSync.call(database, key);
        };
        return database;
      }
    })();
    await open({ ringEventsMax: 1 });
    for (let at = 0; at < 10; at += 1) await commit(store, put(A, `${at}`));
    // Resolves when all that is applied is on disk, and so out of memory.
    await (await store.openSnapshot()).close();
    failing = true;
    expect(await codeOf(store.list('', exact(5)))).toBe('Unavailable');
    expect(showList(await store.list('', QUORUM))).toHaveLength(1);
    failing = false;
    expect(showList(await store.list('', exact(5)))).toHaveLength(1);
  });

  it('hashes content as of a revision, whatever has changed since', async () => {
    await open();
    for (let at = 0; at < 600; at += 1) await commit(store, put(`${A}${at}`, `${at}`));
    const before = await store.contentHash(store.revision(), 1_000);
    expect(before.keyCount).toBe(600);
    await commit(store, put(`${A}5`, 'changed'));
    expect(await store.contentHash(before.revision, 1_000)).toEqual(before);
    const after = await store.contentHash(store.revision(), 1_000);
    expect(after.hash).not.toBe(before.hash);
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
