/** Reads, history, compaction and hashes of a replicated store. */
import { cpSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import {
  asMemberId,
  asTerm,
  FileDisk,
  ManualClock,
  MemoryDisk,
  MemoryReplicatedLog,
  memoryMember,
} from '@orch/raft';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf, commit, exact, put, quorumRead, showList, until } from './testing/harness.js';
import { ReplicatedStoreSetup } from './testing/replicated-store-setup.js';

const keyA = 'core/pods/ns/a';

describe('ReplicatedStore', () => {
  let setup: ReplicatedStoreSetup;

  beforeEach(async () => {
    setup = await ReplicatedStoreSetup.create();
  });

  afterEach(() => setup.destroy());

  it('serves reads of memory without a quorum and is not ready', async () => {
    await setup.open();
    await commit(setup.store, put(keyA, 'one'));
    await setup.store.stop();
    const memoryDisk = setup.log.disk;
    setup.log = new MemoryReplicatedLog(memoryDisk);
    setup.log.noQuorum = true;
    setup.store = setup.createStore();
    await setup.store.start();
    const read = { consistency: { kind: 'any' }, timeoutMs: 1 } as const;
    await until(() => setup.store.revision() === 1, 'the log of before is applied');
    expect((await setup.store.get(keyA, read)).entry).toBeDefined();
    expect(setup.store.status()).toMatchObject({ ready: false, reason: 'no quorum' });
    expect(await codeOf(setup.store.commit([put(keyA, 'two')], 50))).toBe('Unavailable');
    setup.log.noQuorum = false;
    expect((await commit(setup.store, put(keyA, 'two'))).revision).toBe(2);
    expect(setup.store.status()).toMatchObject({ ready: true });
  });

  it('compacts the log only up to the last checkpoint', async () => {
    const copies: { state: string; disk: MemoryDisk; commits: number }[] = [];
    // The comparisons of hashes are commands too.
    await setup.open({ logKeepEntries: 20, hashIntervalEntries: Number.MAX_SAFE_INTEGER });
    const { truncate } = setup.log;
    setup.log.truncate = async (index) => {
      await truncate.call(setup.log, index);
      // What a crash at this moment would leave.
      const state = `${setup.directory}-${copies.length}`;
      cpSync(setup.directory, state, { recursive: true });
      const left = new MemoryDisk();
      left.firstIndex = setup.log.disk.firstIndex;
      left.commands.push(...setup.log.disk.commands);
      // All but the registration of the proposer.
      copies.push({ state, disk: left, commits: left.lastIndex - 1 });
    };
    // Without a pause, so that the log is always ahead of the disk: many rounds if that is slow.
    for (let round = 0; copies.length < 4; round += 1) {
      await Promise.all(
        Array.from({ length: 30 }, (_, at) => commit(setup.store, put(`${keyA}${at}`, `${round}`))),
      );
    }
    await setup.store.stop();
    const whole = setup.directory;
    for (const copy of copies) {
      setup.directory = copy.state;
      await setup.open({}, copy.disk);
      expect(setup.store.revision()).toBe(copy.commits);
      await setup.store.stop();
      await rm(copy.state, { recursive: true });
    }
    setup.directory = whole;
  });

  it('retains history for its retention and compacts it only as the leader', async () => {
    const manual = new ManualClock();
    setup.clock = manual;
    await setup.open({ historyRetentionMs: 60_000, compactionIntervalMs: 10_000 });
    await commit(setup.store, put(keyA, 'one'));
    await commit(setup.store, put(keyA, 'two'));
    await manual.advance(30_000);
    await commit(setup.store, put(keyA, 'three'));
    expect(setup.store.revisionBefore(29_000)).toBe(2);
    await manual.advance(29_000);
    expect(setup.store.compactedRevision()).toBe(0);
    setup.log.lead({ term: asTerm(2), leader: asMemberId('00000000000000b1'), role: 'follower' });
    await manual.advance(20_000);
    expect(setup.store.compactedRevision()).toBe(0);
    setup.log.lead({ term: asTerm(3), leader: memoryMember.id, role: 'leader' });
    await manual.advance(5_000);
    expect(setup.store.compactedRevision()).toBe(2);
    expect(showList(await setup.store.list('', exact(2)))).toHaveLength(1);
  });

  it('lists one revision however long it takes and whatever is written meanwhile', async () => {
    await setup.open({ ringEventsMax: 100 });
    const count = 12_000;
    const keys = Array.from({ length: count }, (_, at) => `core/pods/ns/${100_000 + at}`);
    // From the end, so that what a list has not come to yet changes under it.
    const writeAll = async (text: string) => {
      for (let end = count; end > 0; end -= 500) {
        await commit(setup.store, ...keys.slice(end - 500, end).map((key) => put(key, text)));
      }
    };
    await writeAll('old');
    const before = setup.store.revision();
    let turns = 0;
    let listing = true;
    const tick = () => {
      turns += 1;
      if (listing) setImmediate(tick);
    };
    setImmediate(tick);
    const [latest, overwritten] = await Promise.all([
      setup.store.list('core/pods/', quorumRead),
      writeAll('new').then(async () => {
        const old = setup.store.list('core/pods/', exact(before));
        await commit(
          setup.store,
          { kind: 'delete', key: keys[5_000]! },
          put(`${keys[11_000]}a`, 'new'),
        );
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

  it('has the same hash after a restart and on another replica', async () => {
    await setup.open();
    for (let at = 0; at < 10; at += 1) await commit(setup.store, put(`${keyA}${at % 3}`, `${at}`));
    const content = await setup.store.contentHash(setup.store.revision(), 1_000);
    await setup.store.stop();
    await setup.open({}, setup.log.disk);
    const hash = setup.store.stateHash();
    expect(await setup.store.contentHash(setup.store.revision(), 1_000)).toEqual(content);
    const replayed = new MemoryDisk();
    replayed.commands.push(...setup.log.disk.commands);
    await setup.store.stop();
    await setup.newDirectory();
    setup.log = new MemoryReplicatedLog(replayed);
    setup.log.noQuorum = true;
    setup.store = setup.createStore();
    await setup.store.start();
    await until(() => setup.store.revision() === hash.revision, 'the log is replayed');
    expect(setup.store.stateHash()).toEqual(hash);
    expect(await setup.store.contentHash(setup.store.revision(), 1_000)).toEqual(content);
  });

  it('reports an unreadable disk and continues from memory', async () => {
    let failing = false;
    setup.fileDisk = new (class extends FileDisk {
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
    await setup.open({ ringEventsMax: 1 });
    for (let at = 0; at < 10; at += 1) await commit(setup.store, put(keyA, `${at}`));
    // Resolves when all that is applied is on disk, and so out of memory.
    await (await setup.store.openSnapshot()).close();
    failing = true;
    expect(await codeOf(setup.store.list('', exact(5)))).toBe('Unavailable');
    expect(showList(await setup.store.list('', quorumRead))).toHaveLength(1);
    failing = false;
    expect(showList(await setup.store.list('', exact(5)))).toHaveLength(1);
  });

  it('hashes content at a revision whatever has changed since', async () => {
    await setup.open();
    for (let at = 0; at < 600; at += 1) await commit(setup.store, put(`${keyA}${at}`, `${at}`));
    const before = await setup.store.contentHash(setup.store.revision(), 1_000);
    expect(before.keyCount).toBe(600);
    await commit(setup.store, put(`${keyA}5`, 'changed'));
    expect(await setup.store.contentHash(before.revision, 1_000)).toEqual(before);
    const after = await setup.store.contentHash(setup.store.revision(), 1_000);
    expect(after.hash).not.toBe(before.hash);
  });
});
