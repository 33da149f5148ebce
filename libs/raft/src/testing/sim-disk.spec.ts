import { beforeEach, describe, expect, it } from 'vitest';
import { crc32c } from '../core/log/crc32c.js';
import type { Change, Database } from '../storage/disk/disk.js';
import { ManualClock } from './manual-clock.js';
import { SimDisk } from './sim-disk.js';
import type { SimDiskFaults } from './sim-faults.js';

const logFormat = { kind: 'log', version: 2 } as const;
const databaseOptions = { writeBufferBytes: 1024 * 1024, cacheBytes: 0 };
const logPath = '/data/log';
const instantSync: Partial<SimDiskFaults> = { syncMs: [0, 0] };

const key = (name: string) => Buffer.from(name);
const put = (name: string, value: string): Change => ({
  kind: 'put',
  key: key(name),
  value: Buffer.from(value),
});

/** The same seed is the same run. Each number is a hash of seed and count. */
function seeded(seed: number): () => number {
  let count = 0;
  return () => {
    count += 1;
    return crc32c(Buffer.from(`${seed} ${count}`)) / 0x1_0000_0000;
  };
}

describe('SimDisk', () => {
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
  });

  const newDisk = (faults: Partial<SimDiskFaults> = instantSync, seed = 1) =>
    new SimDisk({ clock, random: seeded(seed), faults: { ...instantSync, ...faults } });
  const open = (disk: SimDisk, path = logPath) =>
    disk.openDatabase(path, logFormat, databaseOptions);
  const show = (disk: SimDisk, path = logPath) =>
    disk.rowsOf(path).map(([name, value]) => `${name}=${value}`);
  const write = (database: Database, sync: boolean, ...changes: Change[]) =>
    database.write(changes, { sync });

  it('is an ordered map with ranges, views and limits', async () => {
    const database = await open(newDisk());
    await write(database, false, put('b', '2'), put('a', '1'), put('d', '4'), put('c', '3'));
    const view = database.view();
    await write(database, true, put('c', 'new'), { kind: 'delete', key: key('b') });
    const read = async (range: Parameters<Database['rows']>[0]) =>
      (await database.rows(range).next(10)).map(([name, value]) => `${name}=${value}`);
    expect(await read({})).toEqual(['a=1', 'c=new', 'd=4']);
    expect(await read({ view, gt: key('a'), lte: key('c') })).toEqual(['b=2', 'c=3']);
    expect(await read({ view, gte: key('b'), lt: key('d'), reverse: true })).toEqual([
      'c=3',
      'b=2',
    ]);
    expect(await read({ reverse: true, limit: 1 })).toEqual(['d=4']);
    expect(await read({ highWaterMarkBytes: 1 })).toEqual(['a=1']);
    expect((await database.get(key('c')))?.toString()).toBe('new');
    expect(database.getSync(key('b'))).toBeUndefined();
  });

  it('keeps its own bytes, and gives away copies', async () => {
    const database = await open(newDisk());
    const value = Buffer.from('value');
    await database.write([{ kind: 'put', key: key('a'), value }], { sync: true });
    value.fill(0);
    (await database.get(key('a')))!.fill(0);
    expect(database.getSync(key('a'))?.toString()).toBe('value');
  });

  it('refuses what a real one refuses', async () => {
    const disk = newDisk();
    const database = await open(disk);
    await expect(open(disk)).rejects.toThrow(/in use by another process/);
    await database.close();
    await expect(
      disk.openDatabase(logPath, { kind: 'log', version: 3 }, databaseOptions),
    ).rejects.toMatchObject({ code: 'BadDirectory' });
    await expect(database.get(key('a'))).rejects.toThrow(/closed/);
  });

  it('ends the process at a crash: no result arrives, and only operations in progress may be lost', async () => {
    const disk = newDisk({ syncMs: [5, 5] });
    const database = await open(disk);
    await write(database, false, put('a', '1'));
    let settled = false;
    const settle = () => {
      settled = true;
    };
    void write(database, true, put('b', '2')).then(settle, settle);
    disk.crash({ machine: false });
    void database.get(key('a')).then(settle, settle);
    await clock.advance(100);
    expect(settled).toBe(false);
    expect(() => database.getSync(key('a'))).toThrow(/crashed/);
    const after = await open(disk);
    expect((await after.get(key('a')))?.toString()).toBe('1');
  });

  it('never loses synced batches, and may lose all others from some batch on', async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 100; seed += 1) {
      const disk = newDisk({ unsyncedLoss: 'suffix' }, seed);
      const database = await open(disk);
      await write(database, true, put('a', 'synced'), put('b', 'synced'));
      await write(database, false, put('a', '1'), put('c', '1'));
      await write(database, false, { kind: 'delete', key: key('b') });
      expect(disk.durableRowsOf(logPath).map(String)).toEqual(['a,synced', 'b,synced']);
      disk.crash({ machine: true });
      seen.add(show(disk).join(' '));
    }
    expect([...seen].sort()).toEqual(['a=1 b=synced c=1', 'a=1 c=1', 'a=synced b=synced']);
  });

  it('may lose any of the unsynced batches, and any before one that was synced alone', async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 200; seed += 1) {
      const disk = newDisk({ unsyncedLoss: 'subset', fileSwitchRate: 1 }, seed);
      const database = await open(disk);
      await write(database, false, put('a', '1'));
      await write(database, false, put('b', '1'));
      await write(database, true, put('c', '1'));
      disk.crash({ machine: true });
      seen.add(show(disk).join(' '));
    }
    expect([...seen].sort()).toEqual(['a=1 b=1 c=1', 'a=1 c=1', 'b=1 c=1', 'c=1']);
  });

  it('has everything on stable storage after a sync, after an opening, and beyond its memory', async () => {
    const disk = newDisk({ unsyncedLoss: 'subset' });
    let database = await open(disk);
    await write(database, false, put('a', '1'));
    await database.sync();
    await write(database, false, put('b', '2'));
    disk.crash({ machine: false });
    database = await open(disk);
    const large = 'x'.repeat(databaseOptions.writeBufferBytes);
    for (const name of ['c', 'd', 'e', 'f']) await write(database, false, put(name, large));
    expect(disk.durableRowsOf(logPath).map(([name]) => String(name))).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ]);
    expect(show(disk)).toHaveLength(6);
  });

  it('accepts no writes when it is full, and loses writes after the torn record', async () => {
    const disk = newDisk({ capacityBytes: 100 });
    let database = await open(disk);
    await write(database, true, put('a', '1'));
    await expect(write(database, true, put('b', 'x'.repeat(200)))).rejects.toMatchObject({
      code: 'ENOSPC',
    });
    expect(show(disk)).toEqual(['a=1']);
    await write(database, true, put('c', '3'));
    await database.close();
    disk.faults.capacityBytes = Number.POSITIVE_INFINITY;
    database = await open(disk);
    expect(show(disk)).toEqual(['a=1']);
    await write(database, true, put('c', '3'));
    disk.crash({ machine: true });
    expect(show(disk)).toEqual(['a=1', 'c=3']);
    expect(disk.counts.spaceErrors).toBe(1);
  });

  it('accepts no writes after a failed sync, whose data may survive or not', async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 50; seed += 1) {
      const disk = newDisk({}, seed);
      const database = await open(disk);
      await write(database, true, put('a', '1'));
      disk.faults.syncErrorRate = 1;
      await expect(write(database, true, put('b', '2'))).rejects.toMatchObject({ code: 'EIO' });
      disk.faults.syncErrorRate = 0;
      await expect(write(database, false, put('c', '3'))).rejects.toThrow(/after a failed fsync/);
      disk.crash({ machine: true });
      seen.add(show(disk).join(' '));
    }
    expect([...seen].sort()).toEqual(['a=1', 'a=1 b=2']);
  });

  it('is slow as often and as long as configured', async () => {
    const disk = newDisk({ syncMs: [1, 1], slowSyncRate: 1, slowSyncMs: [700, 700] });
    const database = await open(disk);
    const startMs = clock.monotonicMs();
    let durationMs = 0;
    void write(database, true, put('a', '1')).then(() => {
      durationMs = clock.monotonicMs() - startMs;
    });
    await clock.advance(699);
    expect(durationMs).toBe(0);
    await clock.advance(1);
    expect(durationMs).toBe(700);
    expect(disk.counts).toMatchObject({ syncs: 1, slowSyncs: 1 });
  });

  it('damages the chosen record', async () => {
    const disk = newDisk();
    let database = await open(disk);
    await write(
      database,
      false,
      put('e1', 'aa'),
      put('e2', 'bb'),
      put('e3', 'cc'),
      put('h', 'old'),
    );
    await write(database, false, put('h', 'new'));
    disk.crash({ machine: false });
    const entries = { gte: key('e'), lt: key('f') };
    for (const [at, expected] of [
      ['first', 'e1'],
      ['middle', 'e2'],
      ['last', 'e3'],
    ] as const) {
      expect(disk.flipBit(logPath, { ...entries, at })?.toString()).toBe(expected);
    }
    expect(disk.makeStale(logPath, key('h'))?.toString()).toBe('h');
    expect(disk.loseRecord(logPath, key('nothing'))).toBeUndefined();
    expect(disk.loseRecord(logPath, { ...entries, at: 'last' })?.toString()).toBe('e3');
    database = await open(disk);
    const [first, second, last] = disk.rowsOf(logPath).map(([, value]) => value);
    expect(bitsApart(first!, 'aa')).toBe(1);
    expect(bitsApart(second!, 'bb')).toBe(1);
    expect(last?.toString()).toBe('old');
    disk.faults.readErrorRate = 1;
    await expect(database.get(key('e1'))).rejects.toMatchObject({ code: 'EIO' });
    await expect(database.rows({}).next(1)).rejects.toMatchObject({ code: 'EIO' });
    expect(disk.counts).toMatchObject({ recordsDamaged: 5, readErrors: 2 });
  });

  it('replaces a directory whole or not at all', async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 30; seed += 1) {
      const disk = newDisk({ syncMs: [5, 5] }, seed);
      for (const name of ['old', 'new']) {
        const database = await open(disk, `/data/${name}`);
        await write(database, false, put('name', name));
        await database.close();
      }
      void disk.replaceDirectory('/data/new', '/data/old');
      disk.crash({ machine: true });
      seen.add(`${disk.directories()} ${show(disk, '/data/old')}`);
    }
    expect(seen).toContain('/data/old name=new');
    expect(
      [...seen].filter((found) => found.startsWith('/data/old,/data/new')).length,
    ).toBeGreaterThan(0);
    const disk = newDisk();
    const database = await open(disk, '/data/new');
    await expect(disk.replaceDirectory('/data/new', '/data/old')).rejects.toThrow(/is open/);
    await database.close();
    disk.faults.syncErrorRate = 1;
    await expect(disk.replaceDirectory('/data/new', '/data/old')).rejects.toMatchObject({
      code: 'EIO',
    });
    disk.crash({ machine: true });
    expect(disk.directories()).toEqual(['/data/new']);
    disk.faults.syncErrorRate = 0;
    await disk.replaceDirectory('/data/new', '/data/old');
    expect(await disk.exists('/data/old')).toBe(true);
    await disk.removeDirectory('/data/old');
    expect(await disk.exists('/data/old')).toBe(false);
  });

  it('keeps marks over a crash of the process, and maybe of the machine', async () => {
    const seen = new Set<string | undefined>();
    for (let seed = 1; seed <= 60; seed += 1) {
      const disk = newDisk({ markLossRate: 0.8 }, seed);
      await (await open(disk)).close();
      const mark = await disk.openMark(`${logPath}/tail`);
      for (const text of ['1', '2', '3']) await mark.write(Buffer.from(text));
      disk.crash({ machine: false });
      expect((await disk.openMark(`${logPath}/tail`)).initial?.toString()).toBe('3');
      disk.crash({ machine: true });
      seen.add((await disk.openMark(`${logPath}/tail`)).initial?.toString());
      disk.wipe(logPath);
      expect((await disk.openMark(`${logPath}/tail`)).initial).toBeUndefined();
    }
    expect(seen).toEqual(new Set(['1', '2', '3', undefined]));
  });

  it('is the same run for the same seed', async () => {
    const run = async (seed: number) => {
      const disk = newDisk(
        { unsyncedLoss: 'subset', fileSwitchRate: 0.3, readErrorRate: 0.2, markLossRate: 0.5 },
        seed,
      );
      const trace: unknown[] = [];
      for (let step = 0; step < 40; step += 1) {
        const database = await open(disk);
        await write(database, step % 3 === 0, put(`k${step % 7}`, `${step}`));
        trace.push(await database.get(key('k1')).then(String, (error: Error) => error.message));
        if (step % 5 === 4) disk.crash({ machine: step % 2 === 0 });
        else await database.close();
        trace.push(show(disk));
      }
      return trace;
    };
    expect(await run(7)).toEqual(await run(7));
    expect(await run(7)).not.toEqual(await run(8));
  });
});

function bitsApart(value: Buffer, original: string): number {
  let bits = 0;
  for (const [at, byte] of Buffer.from(original).entries()) {
    bits += (value[at]! ^ byte).toString(2).replaceAll('0', '').length;
  }
  return bits;
}
