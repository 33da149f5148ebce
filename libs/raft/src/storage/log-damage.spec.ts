/** A log that is not as it was written is refused, and says where; it is never silently shorter. */

import { systemClock } from '@orch/component';
import { beforeEach, describe, expect, it } from 'vitest';
import { asLogIndex, asMemberId, asTerm, branded } from '../core/brands.js';
import type { Entry } from '../core/types.js';
import { append, chain, testIdentity, testStart, vote } from '../testing/log-entries.js';
import { SimDisk } from '../testing/sim-disk.js';
import type { Change, Row } from './disk/disk.js';
import {
  admittedKey,
  configurationKey,
  encodeEntry,
  entriesEnd,
  entryKey,
  headKey,
  identityKey,
  peerKey,
  startKey,
} from './log-codec.js';
import { logFormat } from './log-files.js';
import { LogStore } from './log-store.js';

const logDirectory = '/data/log';
const entryRange = { gte: entryKey(0), lt: entriesEnd };
const index = (value: number) => asLogIndex(value);

describe('a damaged log', () => {
  let disk: SimDisk;
  let store: LogStore;
  let entries: Entry[];

  beforeEach(async () => {
    const random = () => 0.37;
    disk = new SimDisk({ clock: systemClock, random, faults: { syncMs: [0, 0] } });
    store = newStore();
    await store.load();
    await store.create(testIdentity, testStart, true);
    entries = chain(testStart, 1, 'a', 'b', 'configuration', 'd', 'e');
    await append(store, entries);
    await store.notePeer(asMemberId('id-two'), 'storage-two');
    await store.close();
  });

  function newStore(): LogStore {
    const bounds = { cacheEntriesMax: 10, cacheBytesMax: 1_000 };
    return new LogStore({ disk, directory: logDirectory, clock: systemClock, ...bounds });
  }

  async function rewrite(...changes: Change[]): Promise<void> {
    const options = { writeBufferBytes: 1_000_000, cacheBytes: 0 };
    const database = await disk.openDatabase(logDirectory, logFormat, options);
    await database.write(changes, { sync: true });
    await database.close();
  }

  /** The database holds these rows and no others. */
  function restore(rows: readonly Row[]): Promise<void> {
    const deletions = disk.rowsOf(logDirectory).map(([key]): Change => ({ kind: 'delete', key }));
    return rewrite(
      ...deletions,
      ...rows.map(([key, value]): Change => ({ kind: 'put', key, value })),
    );
  }

  const record = (key: Buffer) => disk.rowsOf(logDirectory, { gte: key, lte: key })[0]![1];

  async function expectCorrupt(fault: RegExp): Promise<void> {
    store = newStore();
    await expect(store.load()).rejects.toMatchObject({
      code: 'Corrupt',
      message: expect.stringMatching(fault),
    });
  }

  async function expectWhole(): Promise<void> {
    store = newStore();
    expect((await store.load())?.tail).toEqual(entries);
    await store.close();
  }

  it('is found by any bit of any entry', async () => {
    for (const at of [1, 3, 5]) {
      const key = entryKey(at);
      const value = record(key);
      for (let bit = 0; bit < value.length * 8; bit += 1) {
        const flipped = Buffer.from(value);
        flipped[bit >>> 3]! ^= 1 << (bit & 7);
        await rewrite({ kind: 'put', key, value: flipped });
        await expectCorrupt(new RegExp(`^the log in /data/log is damaged, entry ${at} does not`));
      }
      await rewrite({ kind: 'put', key, value });
      await expectWhole();
    }
  });

  it('names the cure', async () => {
    disk.flipBit(logDirectory, { ...entryRange, at: 'last' });
    await expectCorrupt(/remove this member from the cluster and add it again/);
  });

  it.each([1, 3, 5])(
    'is found when entry %i is missing, misplaced, foreign or torn',
    async (at) => {
      const key = entryKey(at);
      const value = record(key);
      disk.loseRecord(logDirectory, key);
      await expectCorrupt(new RegExp(`entry ${at} is missing`));
      await rewrite({
        kind: 'put',
        key,
        value: record(entryKey(2)),
      });
      await expectCorrupt(new RegExp(`entry ${at} does not match its checksum`));
      const elsewhere = { index: index(at - 1), term: 1, checksum: 77 };
      const foreign = encodeEntry(77, chain(branded(elsewhere), 1, 'foreign')[0]!);
      await rewrite({ kind: 'put', key, value: foreign });
      await expectCorrupt(new RegExp(`entry ${at} does not continue the one before`));
      for (let length = 0; length < value.length; length += 1) {
        await rewrite({ kind: 'put', key, value: value.subarray(0, length) });
        await expectCorrupt(new RegExp(`entry ${at} does not match its checksum`));
      }
      await rewrite({ kind: 'put', key, value });
      await expectWhole();
    },
  );

  it('is found by any bit of every other record', async () => {
    const keys = [identityKey, startKey, headKey, configurationKey(3), peerKey('id-two')];
    for (const key of keys) {
      const value = record(key);
      for (let bit = 0; bit < value.length * 8; bit += 5) {
        const flipped = Buffer.from(value);
        flipped[bit >>> 3]! ^= 1 << (bit & 7);
        await rewrite({ kind: 'put', key, value: flipped });
        await expectCorrupt(/its record (h\/(identity|start|head)|c3|p\/id-two) does not match/);
      }
      await rewrite({ kind: 'put', key, value });
    }
    await rewrite({ kind: 'put', key: admittedKey, value: Buffer.of(1) });
    await expectCorrupt(/its record h\/admitted does not match/);
  });

  it.each([
    [identityKey, /identity \(h\/identity\) is missing/],
    [startKey, /start point \(h\/start\) is missing/],
    [headKey, /newest 3 writes, .*\/data\/log\/tail and are missing/],
    [configurationKey(3), /its configurations \(\) are not those of its entries \(3\)/],
  ])('is found when the record %s is missing', async (key, fault) => {
    disk.loseRecord(logDirectory, key);
    await expectCorrupt(fault);
  });

  it('is found without the mark, too, when the hard state is missing', async () => {
    disk.loseRecord(logDirectory, headKey);
    disk.flipMark(`${logDirectory}/tail`);
    await expectCorrupt(/hard state \(h\/head\) is missing/);
  });

  it('is found when the newest write is gone without a trace', async () => {
    const before = disk.rowsOf(logDirectory);
    const writes = [
      () => vote(store, 6, 'id-two'),
      () => append(store, chain(entries.at(-1)!, 7, 'f')),
      () => append(store, chain(entries[1]!, 8, 'C'), 3),
      () => store.compact(index(2)),
      () =>
        store.moveTo({
          index: index(9),
          term: asTerm(9),
          checksum: 9,
          configuration: testStart.configuration,
        }),
      () => store.notePeer(asMemberId('id-three'), 'storage-three'),
    ];
    for (const write of writes) {
      store = newStore();
      await store.load();
      await write();
      await store.close();
      const after = disk.rowsOf(logDirectory);
      await restore(before);
      await expectCorrupt(/newest \d writes, up to entry \d and term \d, .*\/data\/log\/tail/);
      await restore(after);
      store = newStore();
      expect(await store.load()).toBeDefined();
      await store.close();
      // Back to where it was, without the mark of later.
      await restore(before);
      disk.flipMark(`${logDirectory}/tail`);
    }
  });

  it('is found when all of the database is gone but not the mark', async () => {
    await restore([]);
    await expectCorrupt(/newest 3 writes/);
  });

  it('is found when the hard state reads as an older one', async () => {
    store = newStore();
    await store.load();
    await append(store, chain(entries.at(-1)!, 2, 'f'));
    await store.close();
    expect(disk.makeStale(logDirectory, headKey)).toBeDefined();
    await expectCorrupt(/newest 1 writes/);
    disk.flipMark(`${logDirectory}/tail`);
    await expectCorrupt(/entry 6 exists, but the log ends at 5/);
  });

  it('is found by reading, when it happened after the start', async () => {
    store = newStore();
    await store.load();
    disk.flipBit(logDirectory, entryKey(2));
    expect(await store.read(index(3), index(5), 99)).toHaveLength(3);
    await expect(store.read(index(1), index(3), 99)).rejects.toThrow(/entry 2 does not match/);
    disk.loseRecord(logDirectory, entryKey(4));
    await expect(store.read(index(3), index(5), 99)).rejects.toThrow(/entry 4 is missing/);
    disk.loseRecord(logDirectory, entryKey(5));
    await expect(store.read(index(5), index(5), 99)).rejects.toMatchObject({ code: 'Corrupt' });
    await expect(store.compact(index(2))).rejects.toMatchObject({ code: 'Corrupt' });
  });

  it('is distinguished from a disk that cannot read now', async () => {
    disk.faults.readErrorRate = 1;
    store = newStore();
    await expect(store.load()).rejects.toMatchObject({ code: 'EIO' });
    disk.faults.readErrorRate = 0;
    await expectWhole();
  });

  it('is distinguished from a log of another format', async () => {
    const options = { writeBufferBytes: 1_000_000, cacheBytes: 0 };
    for (const version of [1, 3]) {
      const directory = `/data/version-${version}`;
      await (await disk.openDatabase(directory, { kind: 'log', version }, options)).close();
      const bounds = { cacheEntriesMax: 10, cacheBytesMax: 1_000 };
      store = new LogStore({ disk, directory, clock: systemClock, ...bounds });
      await expect(store.load()).rejects.toMatchObject({
        code: 'BadDirectory',
        message: expect.stringMatching(
          new RegExp(`has format ${version}, this program reads and writes format 2: use`),
        ),
      });
    }
  });
});
