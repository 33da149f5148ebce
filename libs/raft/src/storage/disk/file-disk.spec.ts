import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Change, Database } from './disk.js';
import { FileDisk } from './file-disk.js';

const logFormat = { kind: 'log', version: 2 } as const;
const databaseOptions = { writeBufferBytes: 1024 * 1024, cacheBytes: 1024 * 1024 };

const put = (key: string, value: string): Change => ({
  kind: 'put',
  key: Buffer.from(key),
  value: Buffer.from(value),
});

describe('FileDisk', () => {
  const disk = new FileDisk();
  let parent: string;
  let directory: string;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'file-disk-'));
    directory = join(parent, 'deep', 'data');
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  const open = (path = directory) => disk.openDatabase(path, logFormat, databaseOptions);

  async function contents(database: Database): Promise<string[]> {
    const rows = database.rows({});
    const all = await rows.next(1_000);
    await rows.close();
    return all.map(([key, value]) => `${key}=${value}`);
  }

  /** A database in `path` that holds `name`. */
  async function make(path: string, name: string): Promise<void> {
    const database = await open(path);
    await database.write([put('name', name)], { sync: true });
    await database.close();
  }

  async function nameOf(path: string): Promise<string | undefined> {
    const database = await open(path);
    const name = (await database.get(Buffer.from('name')))?.toString();
    await database.close();
    return name;
  }

  it('returns the written rows, in order, after a restart', async () => {
    let database = await open();
    await database.write([put('b', '2'), put('a', '1'), put('c', '3')], { sync: false });
    await database.write([{ kind: 'delete', key: Buffer.from('b') }], { sync: true });
    await database.sync();
    await database.close();
    database = await open();
    expect(await contents(database)).toEqual(['a=1', 'c=3']);
    expect(database.getSync(Buffer.from('a'))?.toString()).toBe('1');
    expect(await database.get(Buffer.from('b'))).toBeUndefined();
    await database.close();
  });

  it('reads ranges, backwards too, and as of a view', async () => {
    const database = await open();
    await database.write([put('a', '1'), put('b', '2'), put('c', '3'), put('d', '4')], {
      sync: false,
    });
    const view = database.view();
    await database.write([put('c', 'new'), { kind: 'delete', key: Buffer.from('b') }], {
      sync: false,
    });
    const backwards = database.rows({
      gte: Buffer.from('b'),
      lt: Buffer.from('d'),
      reverse: true,
      view,
    });
    expect((await backwards.next(1)).map(String)).toEqual(['c,3']);
    expect((await backwards.next(9)).map(String)).toEqual(['b,2']);
    expect(await backwards.next(9)).toEqual([]);
    await backwards.close();
    await view.close();
    const limited = database.rows({ gt: Buffer.from('a'), limit: 1 });
    expect((await limited.next(9)).map(String)).toEqual(['c,new']);
    await limited.close();
    await database.close();
  });

  it('names cause and cure of a directory that it cannot use', async () => {
    const database = await open();
    await expect(open()).rejects.toThrow(/in use by another process: stop that process/);
    await database.close();
    await expect(
      disk.openDatabase(directory, { kind: 'log', version: 3 }, databaseOptions),
    ).rejects.toMatchObject({ code: 'BadDirectory', message: expect.stringMatching(/format 2/) });
    await expect(
      disk.openDatabase(directory, { kind: 'state', version: 2 }, databaseOptions),
    ).rejects.toThrow(/holds "log", not "state": choose the directory used before/);
    const foreign = join(parent, 'foreign');
    await mkdir(foreign);
    await writeFile(join(foreign, 'letter.txt'), 'dear reader');
    await expect(open(foreign)).rejects.toThrow(
      /is not a log directory: choose an empty directory/,
    );
    expect(await readdir(foreign)).toEqual(['letter.txt']);
    await expect(open(join(foreign, 'letter.txt'))).rejects.toMatchObject({
      code: 'BadDirectory',
    });
    await writeFile(join(foreign, 'format.json'), '{"kind":');
    await expect(open(foreign)).rejects.toMatchObject({
      code: 'Corrupt',
      message: expect.stringMatching(/: restore it from a backup or another replica$/),
    });
    const options = { ...databaseOptions, cure: 'replace the member' };
    await expect(disk.openDatabase(foreign, logFormat, options)).rejects.toThrow(
      `${foreign} is damaged (format.json is not readable JSON): replace the member`,
    );
  });

  it('says Corrupt when LevelDB cannot make sense of its files', async () => {
    await make(directory, 'one');
    const [manifest] = (await readdir(join(directory, 'leveldb'))).filter((name) =>
      name.startsWith('MANIFEST'),
    );
    await writeFile(join(directory, 'leveldb', manifest!), 'garbage');
    await expect(open()).rejects.toMatchObject({ code: 'Corrupt' });
  });

  it('says Corrupt for damaged keys, which LevelDB would not notice', async () => {
    const database = await open();
    await database.write([put('name', 'one')], { sync: true });
    await database.sync();
    await database.close();
    const leveldb = join(directory, 'leveldb');
    const [name] = (await readdir(leveldb)).filter((other) => other.endsWith('.ldb'));
    const table = await readFile(join(leveldb, name!));
    // The length of the first key: the rest of it becomes a part of its value.
    table[1] = 2;
    await writeFile(join(leveldb, name!), table);
    await expect(open()).rejects.toMatchObject({
      code: 'Corrupt',
      message: `${directory} is damaged (${name}: the block at byte 0 does not match its checksum): restore it from a backup or another replica`,
    });
  });

  it('replaces and removes directories', async () => {
    const incoming = join(parent, 'incoming');
    await make(incoming, 'first');
    await disk.replaceDirectory(incoming, join(parent, 'state'));
    await make(incoming, 'second');
    await disk.replaceDirectory(incoming, join(parent, 'state'));
    expect(await nameOf(join(parent, 'state'))).toBe('second');
    expect(await readdir(parent)).toEqual(['state']);
    expect(await disk.sizeOf(join(parent, 'state'))).toBeGreaterThan(50);
    await disk.removeDirectory(join(parent, 'state'));
    await disk.removeDirectory(join(parent, 'state'));
    expect(await disk.exists(join(parent, 'state'))).toBe(false);
    expect(await readdir(parent)).toEqual([]);
  });

  it('finds one of the two complete, wherever a crash interrupts a replacement', async () => {
    const state = join(parent, 'state');
    const incoming = join(parent, 'incoming');
    await make(state, 'old');
    await make(incoming, 'new');
    // The old one has stepped aside.
    await rename(state, `${state}.replaced`);
    expect(await disk.exists(state)).toBe(true);
    expect(await nameOf(state)).toBe('old');
    await rename(state, `${state}.replaced`);
    expect(await nameOf(state)).toBe('old');
    await rename(state, `${state}.replaced`);
    await disk.replaceDirectory(incoming, state);
    expect(await nameOf(state)).toBe('new');
    // The new one is in place, the old one half removed.
    await cp(state, `${state}.replaced`, { recursive: true });
    await rm(join(`${state}.replaced`, 'format.json'));
    expect(await nameOf(state)).toBe('new');
    expect(await readdir(parent)).toEqual(['state']);
    // Half removed: gone.
    await rename(state, `${state}.removed`);
    expect(await disk.exists(state)).toBe(false);
    expect(await readdir(parent)).toEqual([]);
  });

  it('keeps a mark, and knows a damaged one', async () => {
    const file = join(parent, 'tail');
    let mark = await disk.openMark(file);
    expect(mark.initial).toBeUndefined();
    await mark.write(Buffer.from('a longer content'));
    await mark.write(Buffer.from('short'));
    await mark.close();
    mark = await disk.openMark(file);
    expect(mark.initial?.toString()).toBe('short');
    await expect(mark.write(Buffer.alloc(4_096))).rejects.toMatchObject({ code: 'TooLarge' });
    await mark.close();
    const bytes = await readFile(file);
    for (let at = 0; at < 13; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 1;
      await writeFile(file, flipped);
      mark = await disk.openMark(file);
      expect(mark.initial).toBeUndefined();
      await mark.close();
    }
  });
});
