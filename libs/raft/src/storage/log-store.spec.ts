import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asLogIndex, asMemberId, asTerm, branded } from '../core/brands.js';
import { logOrigin } from '../core/log/entry-checksum.js';
import type { Entry } from '../core/types.js';
import {
  append,
  chain,
  configurationOf,
  pointOf,
  testIdentity,
  testStart,
  texts,
  vote,
} from '../testing/log-entries.js';
import { SimDisk } from '../testing/sim-disk.js';
import type { Disk } from './disk/disk.js';
import { FileDisk } from './disk/file-disk.js';
import { LogStore } from './log-store.js';

const index = (value: number) => asLogIndex(value);
const instantly = { clock: systemClock, random: () => 0.5, faults: { syncMs: [0, 0] } } as const;

describe.each<[string, () => Disk]>([
  ['FileDisk', () => new FileDisk()],
  ['SimDisk', () => new SimDisk(instantly)],
])('LogStore over %s', (_, newDisk) => {
  let disk: Disk;
  let parent: string;
  let store: LogStore;

  beforeEach(async () => {
    disk = newDisk();
    parent = await mkdtemp(join(tmpdir(), 'log-store-'));
    store = newStore();
    expect(await store.load()).toBeUndefined();
    await store.create(testIdentity, testStart, false);
  });
  afterEach(async () => {
    await store.close();
    await rm(parent, { recursive: true, force: true });
  });

  function newStore(bounds = { cacheEntriesMax: 1_000, cacheBytesMax: 1024 * 1024 }) {
    const directory = join(parent, 'log');
    return new LogStore({ disk, directory, clock: systemClock, ...bounds });
  }

  async function reopen(bounds?: { cacheEntriesMax: number; cacheBytesMax: number }) {
    await store.close();
    store = newStore(bounds);
    return (await store.load())!;
  }

  it('keeps everything over a restart', async () => {
    const entries = chain(testStart, 1, 'empty', 'a', 'b');
    await append(store, entries);
    const more = chain(entries.at(-1)!, 3, 'empty', 'configuration', 'd');
    await append(store, more);
    await vote(store, 4, 'id-two', 2);
    await store.notePeer(asMemberId('id-two'), 'storage-two');
    await store.noteAdmitted();
    const stored = await reopen();
    expect(stored).toMatchObject({
      identity: testIdentity,
      admitted: true,
      hardState: { term: 4, votedFor: 'id-two', commitIndex: 2 },
      start: logOrigin,
      last: { index: 6, term: 3, checksum: more.at(-1)!.checksum },
      terms: [
        { firstIndex: 1, term: 1 },
        { firstIndex: 4, term: 3 },
      ],
    });
    expect(stored.peers).toEqual(new Map([['id-two', 'storage-two']]));
    expect(stored.configurations).toEqual([
      { index: 0, configuration: configurationOf('one') },
      { index: 5, configuration: configurationOf('c5') },
    ]);
    expect(stored.tail).toEqual([...entries, ...more]);
    expect(await store.sizeBytes()).toBeGreaterThan(100);
  });

  it('returns the newest entries that the cache takes', async () => {
    const many = Array.from({ length: 700 }, (_, at) => `entry ${at + 1}`);
    await append(store, chain(testStart, 1, ...many));
    const few = await reopen({ cacheEntriesMax: 3, cacheBytesMax: 1_000 });
    expect(texts(few.tail)).toEqual(['698:1 entry 698', '699:1 entry 699', '700:1 entry 700']);
    const small = await reopen({ cacheEntriesMax: 300, cacheBytesMax: 20 });
    expect(texts(small.tail)).toEqual(['699:1 entry 699', '700:1 entry 700']);
    expect((await reopen({ cacheEntriesMax: 300, cacheBytesMax: 0 })).tail).toEqual([]);
  });

  it('notes the storage that a peer was first met with', async () => {
    await store.notePeer(asMemberId('id-two'), 'storage-two');
    await store.notePeer(asMemberId('id-two'), 'storage-two');
    await expect(store.notePeer(asMemberId('id-two'), 'another')).rejects.toThrow(
      /another storage/,
    );
  });

  it('is created once and loaded once', async () => {
    await expect(store.create(testIdentity, testStart, true)).rejects.toThrow(
      /holds a log already/,
    );
    await expect(store.load()).rejects.toMatchObject({ code: 'Stopped' });
    await store.close();
    await store.close();
    await expect(vote(store, 1, 'id-one')).rejects.toMatchObject({ code: 'Stopped' });
  });

  it('finishes earlier operations before it closes', async () => {
    const many = Array.from({ length: 5_000 }, (_, at) => `${at}`);
    await append(store, chain(testStart, 1, ...many));
    const cut = store.compact(index(4_999));
    const voted = vote(store, 2, 'id-one');
    const closed = store.close();
    await expect(vote(store, 3, 'id-one')).rejects.toMatchObject({ code: 'Stopped' });
    expect((await cut).index).toBe(4_999);
    await voted;
    await closed;
    const stored = await reopen();
    expect(stored.hardState).toEqual({ term: 2, votedFor: 'id-one', commitIndex: 4_999 });
    expect(texts(stored.tail)).toEqual(['5000:1 4999']);
  });

  it('takes only what continues it, and nothing after a failure', async () => {
    const refuses = async (entries: Entry[], fault: RegExp) => {
      await expect(append(store, entries)).rejects.toThrow(fault);
      await expect(vote(store, 9, 'id-one')).rejects.toMatchObject({ code: 'Stopped' });
      expect((await reopen()).last).toEqual(pointOf(first!));
    };
    const [first] = chain(testStart, 2, 'first');
    await append(store, [first!]);
    await refuses(chain(testStart, 2, 'again'), /entry 1 does not continue entry 1/);
    await refuses(chain({ ...first!, checksum: 7 }, 2, 'x'), /entry 2 does not continue/);
    await refuses(chain(first!, 1, 'older term'), /entry 2 does not continue/);
    await vote(store, 2, 'id-one', 1);
    await expect(vote(store, 2, 'id-two', 1)).rejects.toThrow(/second vote in term 2/);
    await reopen();
    await expect(vote(store, 1, 'id-one', 1)).rejects.toThrow(/term 1 after term 2/);
    await reopen();
    await expect(append(store, chain(testStart, 3, 'other'), 1)).rejects.toThrow(/is committed/);
    expect((await reopen()).hardState).toEqual({ term: 2, votedFor: 'id-one', commitIndex: 1 });
  });

  it('replaces its end in one step', async () => {
    const entries = chain(testStart, 1, 'a', 'b', 'configuration', 'd', 'e');
    await append(store, entries);
    await append(store, chain(entries[1]!, 2, 'B'), 3);
    const stored = await reopen();
    expect(texts(stored.tail)).toEqual(['1:1 a', '2:1 b', '3:2 B']);
    expect(stored.configurations.map((known) => known.index)).toEqual([0]);
    expect(texts(await store.read(index(1), index(9), 100))).toEqual(texts(stored.tail));
    await append(store, chain(entries[0]!, 5, 'configuration', 'y', 'z'), 2);
    const expected = ['1:1 a', '2:5 configuration', '3:5 y', '4:5 z'];
    expect(texts((await reopen()).tail)).toEqual(expected);
  });

  it('reads what fits, at least one', async () => {
    await append(store, chain(testStart, 1, 'aaaa', 'bbbb', 'cccc', 'dddd'));
    expect(texts(await store.read(index(2), index(4), 9))).toEqual(['2:1 bbbb', '3:1 cccc']);
    expect(texts(await store.read(index(2), index(4), 1))).toEqual(['2:1 bbbb']);
    expect(texts(await store.read(index(2), index(3), 99))).toEqual(['2:1 bbbb', '3:1 cccc']);
    expect(await store.read(index(5), index(6), 99)).toBeUndefined();
    await store.compact(index(2));
    expect(await store.read(index(2), index(4), 99)).toBeUndefined();
    expect(texts(await store.read(index(3), index(4), 99))).toEqual(['3:1 cccc', '4:1 dddd']);
  });

  it('reads a consistent view of a log that is compacted and replaced meanwhile', async () => {
    const entries = chain(testStart, 1, 'a', 'b', 'c', 'd');
    await append(store, entries);
    const [read, , , late] = await Promise.all([
      store.read(index(1), index(4), 99),
      store.compact(index(2)),
      append(store, chain(entries[2]!, 2, 'D'), 4),
      store.read(index(3), index(4), 99),
    ]);
    expect(texts(read)).toEqual(['1:1 a', '2:1 b', '3:1 c', '4:1 d']);
    expect(texts(late)?.[0]).toBe('3:1 c');
    expect(texts(await store.read(index(3), index(4), 99))).toEqual(['3:1 c', '4:2 D']);
  });

  it('is compacted, and remembers its start and its members', async () => {
    const entries = chain(testStart, 1, 'a', 'configuration', 'c', 'configuration', 'e');
    await append(store, entries);
    const point = pointOf(entries[2]!);
    expect(await store.compact(index(3))).toEqual(point);
    expect(await store.compact(index(2))).toEqual(point);
    let stored = await reopen();
    expect(stored.start).toEqual(point);
    expect(stored.configurations).toEqual([
      { index: 3, configuration: configurationOf('c2') },
      { index: 4, configuration: configurationOf('c4') },
    ]);
    expect(stored.hardState.commitIndex).toBe(3);
    expect(texts(stored.tail)).toEqual(['4:1 configuration', '5:1 e']);
    await store.compact(index(5));
    await append(store, chain(entries[4]!, 1, 'f'));
    stored = await reopen();
    expect(stored.configurations).toEqual([{ index: 5, configuration: configurationOf('c4') }]);
    expect(texts(stored.tail)).toEqual(['6:1 f']);
    expect(await store.compact(index(7))).toEqual({ ...stored.last });
    expect((await reopen()).start).toEqual(stored.last);
  });

  it('moves up to a snapshot and keeps what follows it', async () => {
    const entries = chain(testStart, 1, 'a', 'b', 'c');
    await append(store, entries);
    await store.moveTo({ ...pointOf(entries[1]!), configuration: configurationOf('new') });
    const stored = await reopen();
    expect(texts(stored.tail)).toEqual(['3:1 c']);
    expect(stored.configurations).toEqual([{ index: 2, configuration: configurationOf('new') }]);
  });

  it('moves up to a snapshot that is ahead of it', async () => {
    await append(store, chain(testStart, 1, 'a', 'configuration', 'c'));
    const far = { index: index(90), term: 7, checksum: 99 };
    await store.moveTo(branded({ ...far, configuration: configurationOf('new') }));
    await store.moveTo(branded({ ...far, configuration: configurationOf('new') }));
    await append(store, chain(branded(far), 7, 'next'));
    const stored = await reopen();
    expect(stored).toMatchObject({ start: far, hardState: { term: 7, commitIndex: 90 } });
    expect(stored.configurations.map((known) => known.index)).toEqual([90]);
    expect(texts(stored.tail)).toEqual(['91:7 next']);
  });

  it('drops entries that contradict a snapshot, never committed ones', async () => {
    await append(store, chain(testStart, 1, 'a', 'b', 'configuration', 'd'));
    const other = chain(testStart, 2, 'A', 'B');
    await store.moveTo({ ...pointOf(other[1]!), configuration: configurationOf('new') });
    expect(await store.read(index(3), index(4), 99)).toBeUndefined();
    await append(store, chain(other[1]!, 2, 'C'));
    expect(texts((await reopen()).tail)).toEqual(['3:2 C']);
    await vote(store, 2, 'id-one', 3);
    await expect(
      store.moveTo({
        index: index(3),
        term: asTerm(2),
        checksum: 5,
        configuration: testStart.configuration,
      }),
    ).rejects.toMatchObject({ code: 'Corrupt' });
  });
});
