import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orch/component';
import {
  branded,
  FileDisk,
  type Member,
  MemoryDisk,
  MemoryReplicatedLog,
  memoryMember,
} from '@orch/raft';
import { ClassicLevel } from 'classic-level';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Command, encodeCommand } from '../core/command.js';
import { versionKey } from '../core/record.js';
import { createStore, type ReplicatedStore } from '../replicated-store.js';
import type { StoreOptions } from '../store-options.js';
import {
  commit,
  exact,
  put,
  quietLogger,
  quorumRead,
  read,
  showList,
  until,
  WatchRecorder,
  waitMs,
} from '../testing/harness.js';
import type { Revision, StoreError } from '../versioned-store.js';

const anyRead = read({ kind: 'any' });
const otherMembers: Member[] = branded(
  ['b1', 'b2'].map((id) => ({
    ...memoryMember,
    id: id.padStart(16, '0'),
    name: id,
  })),
);

interface Replica {
  readonly log: MemoryReplicatedLog;
  readonly store: ReplicatedStore;
  readonly fatal: Error[];
}

describe('state replaced by a snapshot', () => {
  let parent: string;
  const open: ReplicatedStore[] = [];

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'store-snapshot-'));
  });

  afterEach(async () => {
    for (const store of open.splice(0)) await store.stop();
    await rm(parent, { recursive: true, force: true });
  });

  function replica(name: string, disk = new MemoryDisk(), options: Partial<StoreOptions> = {}) {
    const log = new MemoryReplicatedLog(disk);
    log.configuration = { voters: [memoryMember, ...otherMembers], learners: [] };
    const fatal: Error[] = [];
    const store = createStore({
      directory: join(parent, name, 'state'),
      disk: new FileDisk(),
      log,
      clock: systemClock,
      random: Math.random,
      logger: { ...quietLogger, error: () => undefined },
      onFatal: (error) => fatal.push(error),
      options: { ringEventsMax: 10, ...options },
    });
    open.push(store);
    return { log, store, fatal };
  }

  async function started(...parameters: Parameters<typeof replica>): Promise<Replica> {
    const made = replica(...parameters);
    await made.store.start();
    await until(() => made.store.status().ready, 'the store is ready');
    return made;
  }

  /** Two replicas of one log, of which the second has got no further than `commits`. */
  async function ahead(commits: number, more: number): Promise<[Replica, Replica]> {
    const behind = await started('behind');
    await write(behind.store, 0, commits);
    const disk = new MemoryDisk();
    disk.commands.push(...behind.log.disk.commands);
    const leader = await started('leader', disk);
    await write(leader.store, commits, more);
    return [leader, behind];
  }

  async function write(store: ReplicatedStore, from: number, count: number): Promise<void> {
    for (let at = from; at < from + count; at += 1) {
      const key = `core/pods/ns/p${at % 7}`;
      await commit(store, at % 10 === 9 ? { kind: 'delete', key } : put(key, `${at}`));
    }
  }

  async function allLists(store: ReplicatedStore): Promise<string[][]> {
    const lists: string[][] = [];
    const { compactedRevision, revision } = store.status();
    for (let at: number = compactedRevision; at <= revision; at += 1) {
      lists.push(showList(await store.list('', exact(at))));
    }
    return lists;
  }

  it('has the content, history and hashes of the snapshot, also after a restart', async () => {
    const [leader, behind] = await ahead(20, 60);
    await leader.store.compact(30 as Revision);
    const { chunks } = await leader.log.takeSnapshot();
    const point = await behind.log.giveSnapshot(chunks);
    expect(point.index).toBe(leader.store.stateHash().appliedIndex);
    const same = async (store: ReplicatedStore) => {
      expect(store.status()).toMatchObject({ revision: 80, compactedRevision: 30 });
      expect(await allLists(store)).toEqual(await allLists(leader.store));
      const content = await leader.store.contentHash(75 as Revision, waitMs);
      expect(await store.contentHash(75 as Revision, waitMs)).toEqual(content);
    };
    expect(behind.store.stateHash()).toEqual(leader.store.stateHash());
    await same(behind.store);
    await behind.store.stop();
    const disk = behind.log.disk;
    const again = await started('behind', disk);
    await same(again.store);
    expect((await commit(again.store, put('core/pods/ns/new', 'x'))).revision).toBe(81);
  });

  it('continues watches without a gap or ends them when history does not reach back', async () => {
    const [leader, behind] = await ahead(20, 60);
    const reference = new WatchRecorder(leader.store, 'core/pods/', 0);
    await reference.reached(80);
    const live = new WatchRecorder(behind.store, 'core/pods/', 20);
    const past = new WatchRecorder(behind.store, 'core/pods/', 5);
    await behind.log.giveSnapshot((await leader.log.takeSnapshot()).chunks);
    await live.reached(80);
    await past.reached(80);
    expect(live.show()).toEqual(reference.show().slice(20));
    expect(past.show()).toEqual(reference.show().slice(5));
    await commit(behind.store, put('core/pods/ns/p1', 'after'));
    expect(live.events).toHaveLength(61);

    const [newer, older] = await (async () => {
      const disk = new MemoryDisk();
      disk.commands.push(...behind.log.disk.commands);
      return [leader, await started('third', new MemoryDisk())] as const;
    })();
    await newer.store.compact(50 as Revision);
    const overtaken = new WatchRecorder(older.store, '', 0);
    await older.log.giveSnapshot((await newer.log.takeSnapshot()).chunks);
    await until(() => overtaken.ended !== undefined, 'the watch has ended');
    expect(overtaken.ended).toMatchObject({ code: 'Compacted', revision: 50 });
  });

  it('settles waiting readers and commits and reports a missed result', async () => {
    const behind = await started('behind');
    await write(behind.store, 0, 5);
    const proposed: Buffer[] = [];
    const { propose } = behind.log;
    behind.log.propose = (id, command) => {
      proposed.push(command);
      propose.call(behind.log, id, command);
    };
    behind.log.hold();
    const taken = behind.store
      .commit([put('core/pods/ns/taken', 'x')], waitMs)
      .catch((error: StoreError) => error.code);
    const waiting = behind.store.get(
      'core/pods/ns/p1',
      read({ kind: 'notOlderThan', revision: 12 as Revision }),
    );
    const disk = new MemoryDisk();
    disk.commands.push(...behind.log.disk.commands, proposed[0]!);
    const leader = await started('leader', disk);
    await write(leader.store, 5, 10);
    const { chunks } = await leader.log.takeSnapshot();
    const still = commit(behind.store, put('core/pods/ns/still', 'x'));
    await behind.log.giveSnapshot(chunks);
    expect(await taken).toBe('OutcomeUnknown');
    expect((await waiting).revision).toBeGreaterThanOrEqual(12);
    behind.log.release();
    expect((await still).revision).toBe(17);
    expect((await behind.store.get('core/pods/ns/taken', quorumRead)).entry?.revision).toBe(6);
  });

  it('is unchanged when the snapshot is damaged, truncated or aborted', async () => {
    const [leader, behind] = await ahead(10, 20);
    await commit(leader.store, put('core/pods/ns/large', 'x'.repeat(700_000)));
    const { chunks } = await leader.log.takeSnapshot();
    expect(chunks.length).toBeGreaterThan(2);
    const before = await allLists(behind.store);
    const flipped = chunks.map((chunk) => Buffer.from(chunk));
    flipped[1]![1_000]! ^= 4;
    await expect(behind.log.giveSnapshot(flipped)).rejects.toMatchObject({ code: 'Corrupt' });
    await expect(behind.log.giveSnapshot(chunks.slice(0, -1))).rejects.toMatchObject({
      code: 'Corrupt',
    });
    expect(await allLists(behind.store)).toEqual(before);
    await behind.log.giveSnapshot(chunks);
    expect(behind.store.stateHash()).toEqual(leader.store.stateHash());
  });

  it('is sent as of one revision during writes', async () => {
    const [leader, behind] = await ahead(10, 500);
    const writing = write(leader.store, 510, 300);
    const { chunks, appliedIndex } = await leader.log.takeSnapshot();
    await writing;
    await behind.log.giveSnapshot(chunks);
    const { revision } = behind.store.stateHash();
    expect(behind.store.stateHash().appliedIndex).toBe(appliedIndex);
    expect(await behind.store.contentHash(revision, waitMs)).toEqual(
      await leader.store.contentHash(revision, waitMs),
    );
  });

  it('is fetched when the database is damaged and others have the state', async () => {
    const leader = await started('leader');
    await write(leader.store, 0, 60);
    const disk = new MemoryDisk();
    disk.commands.push(...leader.log.disk.commands.slice(0, 40));
    const behind = await started('behind', disk, { logKeepEntries: 30 });
    await until(() => behind.log.truncations.length > 0, 'the state was synced');
    await behind.store.stop();
    const database = new ClassicLevel<Buffer, Buffer>(join(parent, 'behind/state/leveldb'), {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
    });
    await database.del(versionKey(20, 0));
    await database.close();
    await cp(join(parent, 'behind'), join(parent, 'sole'), { recursive: true });

    const { log, store } = replica('behind', behind.log.disk);
    await store.start();
    expect(store.status()).toMatchObject({ ready: false, revision: 0 });
    expect(store.status().reason).toMatch(/waiting for a snapshot from the leader/);
    await expect(store.get('core/pods/ns/p1', anyRead)).rejects.toMatchObject({
      code: 'Unavailable',
    });
    await log.giveSnapshot((await leader.log.takeSnapshot()).chunks);
    expect(await allLists(store)).toEqual(await allLists(leader.store));
    await until(() => store.status().ready, 'the store is ready');

    const sole = replica('sole', behind.log.disk);
    sole.log.configuration = { voters: [memoryMember], learners: [] };
    await expect(sole.store.start()).rejects.toMatchObject({
      code: 'Corrupt',
      message: expect.stringContaining('revision 27 is incomplete') as string,
    });
  });

  describe('after a divergence', () => {
    /** Commands of another member in this replica's log. */
    function member(log: MemoryReplicatedLog, id: string) {
      const nonce = id.padStart(16, 'c');
      log.append(
        encodeCommand({ kind: 'register', id: { proposer: nonce, sequence: 0 }, timeMs: 1 }),
      );
      const proposer = log.disk.lastIndex.toString(16).padStart(16, '0');
      let sequence = 0;
      return (index: number, hash: number) => {
        sequence += 1;
        const report: Command = {
          kind: 'hash',
          id: { proposer, sequence },
          timeMs: 1,
          index,
          hash,
          member: id,
        };
        log.append(encodeCommand(report));
      };
    }

    it('reports its hash at the same entries as the others', async () => {
      const { log, store } = await started('one', new MemoryDisk(), { hashIntervalEntries: 10 });
      await write(store, 0, 25);
      const hashOf = (command: Buffer) => command[1] === 4;
      await until(() => log.disk.commands.filter(hashOf).length >= 2, 'two reports are made');
      const indexes = log.disk.commands.filter(hashOf).map((command) => command.readUIntBE(22, 6));
      expect(indexes.slice(0, 2)).toEqual([10, 20]);
    });

    it('stops when a majority of the others agree, and fetches the state', async () => {
      const { log, store, fatal } = await started('one');
      await write(store, 0, 10);
      const [first, second] = [member(log, otherMembers[0]!.id), member(log, otherMembers[1]!.id)];
      await write(store, 10, 10);
      const { appliedIndex, hash } = store.stateHash();
      const own = Number.parseInt(hash, 16);
      first(appliedIndex, own);
      second(appliedIndex, (own ^ 1) >>> 0);
      await write(store, 20, 5);
      expect(fatal).toEqual([]);
      const later = store.stateHash().appliedIndex;
      first(later, 7);
      second(later, 7);
      await until(() => fatal.length > 0, 'the store has given up');
      expect(fatal[0]?.message).toMatch(/diverged.*fetches the state from the leader/);
      expect(store.status().ready).toBe(false);
      await store.stop();

      const again = replica('one', log.disk);
      await again.store.start();
      expect(again.store.status().reason).toMatch(/waiting for a snapshot from the leader/);
      const leader = await started('leader', new MemoryDisk());
      for (let at = 0; at < 40; at += 1) leader.log.appendEmpty();
      await write(leader.store, 0, 30);
      await again.log.giveSnapshot((await leader.log.takeSnapshot()).chunks);
      expect(again.store.revision()).toBe(30);
      expect(again.fatal).toEqual([]);
    });
  });
});
