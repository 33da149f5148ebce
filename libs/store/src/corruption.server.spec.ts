/** Damage on disk is found by checksum and reported with what to do; it is never served. */
import { cp, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { versionKey } from './core/record.js';
import type { ReplicatedStore } from './replicated-store.js';
import type { StoreObserver } from './store-observer.js';
import type { StoreOptions } from './store-options.js';
import { commit, exact, put, showList, until, WatchRecorder } from './testing/harness.js';
import { openSole } from './testing/sole-store.js';
import { type Revision, StoreError } from './versioned-store.js';

const commitCount = 60;
/** Entries, so that the checkpoint lies between this and the last commit. */
const checkpointAfter = 45;
const fileFlips = 24;
/** Three keys in one commit, and again five commits later. */
const togetherRevision = 20;
const together = ['core/pods/ns/t0', 'core/pods/ns/t1', 'core/pods/ns/t2'];

const ignoredMeasurements = {
  committed() {},
  commitFailed() {},
  applied() {},
  replaced() {},
  barrier() {},
  stateWritten() {},
};

type Raw = ClassicLevel<Buffer, Buffer>;

describe('damaged data directory', () => {
  let parent: string;
  let good: string;
  let directory: string;
  let lists: string[][];
  let fatal: Error[];

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'store-damage-'));
    good = join(parent, 'good');
    let checkpointCount = 0;
    const observer: StoreObserver = {
      ...ignoredMeasurements,
      checkpointed: () => {
        checkpointCount += 1;
      },
    };
    const options = { logKeepEntries: checkpointAfter };
    const store = await openSole(good, {
      options,
      observer,
      onFatal: (error) => fatal.push(error),
    });
    for (let at = 0; at < commitCount; at += 1) {
      if (at === checkpointAfter)
        await until(() => checkpointCount > 0, 'the checkpoint is written');
      const key = `core/pods/ns/p${at % 9}`;
      if (at === togetherRevision || at === togetherRevision + 5) {
        await commit(store, ...together.map((one) => put(one, `${at}`)));
      } else await commit(store, at % 10 === 9 ? { kind: 'delete', key } : put(key, `${at}`));
    }
    lists = await listAll(store);
    await store.stop();
  });

  afterAll(async () => {
    await rm(parent, { recursive: true, force: true });
  });

  beforeEach(async () => {
    directory = join(parent, 'copy');
    fatal = [];
    await rm(directory, { recursive: true, force: true });
    await cp(good, directory, { recursive: true });
  });

  function openStore(at: string, options: Partial<StoreOptions> = {}): Promise<ReplicatedStore> {
    return openSole(at, { options, onFatal: (error) => fatal.push(error) });
  }

  async function listAll(store: ReplicatedStore): Promise<string[][]> {
    const all: string[][] = [];
    for (let revision = 0; revision <= store.revision(); revision += 1) {
      all.push(showList(await store.list('', exact(revision))));
    }
    return all;
  }

  async function change(action: (database: Raw) => Promise<void>): Promise<void> {
    const database: Raw = new ClassicLevel(join(directory, 'state', 'leveldb'), {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      compression: false,
    });
    await action(database);
    await database.close();
  }

  async function flip(database: Raw, key: Buffer, at: (length: number) => number): Promise<void> {
    const value = Buffer.from((await database.get(key))!);
    value[at(value.length)]! ^= 0x10;
    await database.put(key, value);
  }

  async function flipProposer(database: Raw): Promise<void> {
    const [key] = await database.keys({ gt: Buffer.from('p/'), lt: Buffer.from('p0') }).all();
    await flip(database, key!, () => 30);
  }

  const refuses = async (message: RegExp) => {
    await expect(openStore(directory)).rejects.toThrow(message);
    await expect(openStore(directory)).rejects.toMatchObject({ code: 'Corrupt' });
  };

  it('is refused when the checksum of a payload, a header or a torn record does not match', async () => {
    const key = versionKey(30, 0);
    const cure = /revision 30 does not match its checksum: restore this data directory/;
    await change((database) => flip(database, key, (length) => length - 1));
    await refuses(cure);
    await change((database) => flip(database, key, (length) => length - 1));
    await (await openStore(directory)).stop();
    await change((database) => flip(database, key, () => 12));
    await refuses(cure);
    await change(async (database) => {
      await flip(database, key, () => 12);
      const whole = (await database.get(key))!;
      await database.put(key, whole.subarray(0, whole.length - 3));
    });
    await refuses(cure);
  });

  it('is refused when a record is missing or under a wrong key', async () => {
    await change(async (database) => {
      const other = (await database.get(versionKey(31, 0)))!;
      await database.put(versionKey(30, 0), other);
    });
    await refuses(/revision 30 does not match/);
    await change((database) => database.del(versionKey(30, 0)));
    await refuses(/revision 39 is incomplete/);
  });

  it.each([
    ['the first', 0],
    ['one between', 1],
    ['the last', 2],
  ])('is refused when of the records of one commit %s is missing', async (_, position) => {
    await change((database) => database.del(versionKey(togetherRevision + 1, position)));
    await refuses(/revision 26 is incomplete/);
  });

  it('is refused when a key has an older version of the same length', async () => {
    const rowsOf = (at: number) => together.map((_, position) => versionKey(at, position));
    const older: [Buffer, Buffer][] = [];
    await change(async (database) => {
      for (const key of rowsOf(togetherRevision + 1)) older.push([key, (await database.get(key))!]);
    });
    const store = await openStore(directory);
    // Gaps below the compacted revision are correct.
    await store.compact((togetherRevision + 10) as Revision);
    await store.stop();
    await change(async (database) => {
      for (const key of rowsOf(togetherRevision + 6)) await database.del(key);
      for (const [key, value] of older) await database.put(key, value);
    });
    await refuses(/older versions of them|revision 26 is incomplete/);
  });

  it('is refused when a superseded version above the compacted revision is missing', async () => {
    const store = await openStore(directory);
    // The versions of revision 21 are retained; revision 26 supersedes them later.
    await store.compact((togetherRevision + 3) as Revision);
    await store.stop();
    await change((database) => database.del(versionKey(togetherRevision + 1, 1)));
    await refuses(/revision 26 is incomplete/);
  });

  it('is refused when the checkpoint is damaged or missing', async () => {
    await change((database) => flip(database, Buffer.from('m/checkpoint'), () => 20));
    await refuses(/the checkpoint of the state does not match its checksum/);
    await change((database) => database.del(Buffer.from('m/checkpoint')));
    await refuses(/the checkpoint of the state is missing/);
  });

  it.each([
    ['that there are facts', (database: Raw) => database.del(Buffer.from('m/applied'))],
    ['the facts', (database: Raw) => flip(database, Buffer.from('m/applied'), () => 20)],
    ['the last record', (database: Raw) => flip(database, versionKey(commitCount, 0), () => 3)],
    ['a record that a crash lost', (database: Raw) => database.del(versionKey(commitCount - 1, 0))],
    ['the record of a proposer', (database: Raw) => flipProposer(database)],
  ])('is restored from checkpoint and log when the damage is later: %s', async (_, damage) => {
    await change(damage);
    const store = await openStore(directory);
    expect(await listAll(store)).toEqual(lists);
    expect((await commit(store, put('core/pods/ns/new', 'x'))).revision).toBe(commitCount + 1);
    await store.stop();
    const again = await openStore(directory);
    expect((await listAll(again)).slice(0, -1)).toEqual(lists);
    await again.stop();
  });

  it('is not served when the damage occurs while the store runs', async () => {
    const store = await openStore(directory, { ringEventsMax: 1 });
    await overwriteValues('state');
    await expect(store.list('', exact(5))).rejects.toMatchObject({ code: 'Corrupt' });
    expect(fatal).toHaveLength(1);
    await store.stop();
  });

  it('is refused or complete after any flipped byte in any file', async () => {
    let refused = 0;
    for (let round = 0; round < fileFlips; round += 1) {
      await rm(directory, { recursive: true, force: true });
      await cp(good, directory, { recursive: true });
      await flipRandomByte(round % 2 === 0 ? 'state' : 'log');
      let store: ReplicatedStore;
      try {
        store = await openStore(directory);
      } catch (error) {
        expect(error).toBeInstanceOf(StoreError);
        expect(['Corrupt', 'BadDirectory']).toContain((error as StoreError).code);
        refused += 1;
        continue;
      }
      expect(await listAll(store)).toEqual(lists);
      const watch = await new WatchRecorder(store, '', 0).reached(store.revision());
      expect(watch.events.at(-1)?.revision).toBe(lists.length - 1);
      await store.stop();
    }
    expect(refused).toBeGreaterThan(0);
  });

  /** The payload's text in all files, in place: the length and every other byte stay. */
  async function overwriteValues(database: string): Promise<void> {
    const leveldb = join(directory, database, 'leveldb');
    for (const name of (await readdir(leveldb)).filter((other) => /\.(ldb|log)$/.test(other))) {
      const bytes = await readFile(join(leveldb, name));
      const damaged = bytes.toString('latin1').replaceAll('"text"', '"tixt"');
      await writeFile(join(leveldb, name), Buffer.from(damaged, 'latin1'));
    }
  }

  async function flipRandomByte(database: string): Promise<void> {
    const leveldb = join(directory, database, 'leveldb');
    const names = (await readdir(leveldb)).filter((name) => /\.(ldb|log)$|MANIFEST/.test(name));
    const name = names[Math.floor(Math.random() * names.length)]!;
    const file = await open(join(leveldb, name), 'r+');
    const { size } = await file.stat();
    const byte = Buffer.alloc(1);
    const at = Math.floor(Math.random() * size);
    if (size > 0) {
      await file.read(byte, 0, 1, at);
      byte[0]! ^= 1 << Math.floor(Math.random() * 8);
      await file.write(byte, 0, 1, at);
    }
    await file.close();
  }
});
