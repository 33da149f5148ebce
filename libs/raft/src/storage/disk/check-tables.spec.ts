/** Damaged tables are found before LevelDB reads them, which would abort the process. */
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkTables } from './check-tables.js';
import { type BlockPlace, LevelBlock } from './level-block.js';
import { LevelFormatError, LevelReader } from './level-bytes.js';
import { liveTables } from './level-manifest.js';

const emptyRange = [Buffer.alloc(64, 0xff), Buffer.alloc(65, 0xff)] as const;
const footerBytes = 48;
/** Sequence and kind of a write, behind its key. */
const suffixBytes = 8;

/** The places of the data blocks of a table. */
function dataPlaces(table: Buffer): BlockPlace[] {
  const footer = new LevelReader(table, table.length - footerBytes);
  const place = () => ({ start: footer.number(), byteCount: footer.number() });
  place();
  const { rows } = new LevelBlock(table, place());
  return rows.map(({ value }) => {
    const reader = new LevelReader(value);
    return { start: reader.number(), byteCount: reader.number() };
  });
}

describe('checkTables', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'check-tables-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function withDatabase<T>(
    action: (database: ClassicLevel<string, string>) => Promise<T>,
    compression = false,
  ): Promise<T> {
    const database = new ClassicLevel<string, string>(directory, { compression });
    await database.open();
    try {
      return await action(database);
    } finally {
      await database.close();
    }
  }

  /** Writes a table with these rows; the keys of several tables overlap, so they are merged. */
  function writeTable(count: number, text: string): Promise<void> {
    return withDatabase(async (database) => {
      for (let at = 0; at < count; at += 1) await database.put(`key/${at}`, `${text} ${at}`);
      await database.compactRange(emptyRange[0].toString(), emptyRange[1].toString());
    });
  }

  async function tableFiles(): Promise<string[]> {
    const names = (await readdir(directory)).filter((name) => name.endsWith('.ldb'));
    return names.map((name) => join(directory, name));
  }

  const contents = () => withDatabase((database) => database.iterator().all());

  it('accepts no database, an empty one and tables of several blocks', async () => {
    await checkTables(directory);
    await checkTables(join(directory, 'absent'));
    await withDatabase(async () => {});
    await checkTables(directory);
    await writeTable(2_000, 'a value with some length');
    await checkTables(directory);
    const tables = await liveTables(directory);
    expect(tables?.[0]?.byteCount).toBeGreaterThan(3 * 4_096);
  });

  it('finds a flipped bit of a table unless LevelDB can read and merge it', async () => {
    await writeTable(9, 'value');
    const good = `${directory}.good`;
    await cp(directory, good, { recursive: true });
    const [file] = await tableFiles();
    const whole = await readFile(file!);
    let merged = 0;
    for (let bit = 0; bit < whole.length * 8; bit += 5) {
      const damaged = Buffer.from(whole);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      await writeFile(file!, damaged);
      const error = await checkTables(directory).catch((failure: unknown) => failure);
      if (error !== undefined) {
        expect(error).toBeInstanceOf(LevelFormatError);
        continue;
      }
      // Without the check some of the bits abort this process here.
      await withDatabase(async (database) => {
        expect((await database.iterator().all()).length).toBeGreaterThan(0);
        await database.compactRange('', '~');
      });
      merged += 1;
      await rm(directory, { recursive: true });
      await cp(good, directory, { recursive: true });
    }
    await rm(good, { recursive: true });
    expect(merged).toBeGreaterThan(0);
    expect(merged).toBeLessThan((whole.length * 8) / 5);
  });

  it('accepts a damaged value, and finds damaged keys of any block', async () => {
    await writeTable(600, 'a value with some length');
    const [file] = await tableFiles();
    const whole = await readFile(file!);
    const damage = async (at: number, change: number) => {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= change;
      await writeFile(file!, damaged);
    };
    // The last digit of a value, and of keys next to the ends of blocks.
    await damage(whole.indexOf('a value with some length 77') + 26, 1);
    await checkTables(directory);
    // The index says only of the last block that any larger key belongs there.
    for (const place of dataPlaces(whole).slice(0, -1)) {
      const last = whole.lastIndexOf('a value', place.start + place.byteCount) - suffixBytes - 1;
      await damage(last, 0x40);
      await expect(checkTables(directory)).rejects.toThrow(
        `the block at byte ${place.start} does not match its checksum`,
      );
    }
  });

  it('accepts compressed tables, which another program wrote', async () => {
    await withDatabase(async (database) => {
      for (let at = 0; at < 2_000; at += 1) await database.put(`key/${at}`, `a value ${at}`);
      await database.compactRange('', '~');
    }, true);
    await checkTables(directory);
    expect((await liveTables(directory))![0]!.byteCount).toBeLessThan(2_000 * 20);
  });

  it('finds a truncated table, and leaves a missing one to LevelDB', async () => {
    await writeTable(9, 'value');
    const [file] = await tableFiles();
    const { length } = await readFile(file!);
    await truncate(file!, length - 1);
    await expect(checkTables(directory)).rejects.toThrow(/\d+\.ldb: truncated/);
    await truncate(file!, 0);
    await expect(checkTables(directory)).rejects.toThrow(/\d+\.ldb: truncated/);
    await rm(file!);
    await checkTables(directory);
  });

  it('reads only the tables in use: a crash leaves others, and incomplete ones', async () => {
    await writeTable(9, 'first');
    await writeTable(9, 'second');
    await withDatabase((database) => database.compactRange('key/', 'key0'));
    const names = (await tableFiles()).map((file) => Number(file.match(/(\d+)\.ldb$/)![1]));
    const live = (await liveTables(directory))!.map(({ number }) => number);
    expect(live.sort()).toEqual(names.sort());
    await writeFile(join(directory, '000999.ldb'), 'half a tab');
    await checkTables(directory);
    expect((await contents()).map(([, value]) => value)).toContain('second 8');
  });

  it('leaves a damaged manifest to LevelDB, and reads one that a crash truncated', async () => {
    await writeTable(9, 'first');
    await writeTable(9, 'second');
    const name = (await readFile(join(directory, 'CURRENT'), 'utf8')).trim();
    const manifest = await readFile(join(directory, name));
    await writeFile(join(directory, name), manifest.subarray(0, manifest.length - 3));
    expect(await liveTables(directory)).toBeDefined();
    for (const at of [0, 6, 9, 20]) {
      const damaged = Buffer.from(manifest);
      damaged[at]! ^= 1;
      await writeFile(join(directory, name), damaged);
      expect(await liveTables(directory)).toBeUndefined();
    }
    await writeFile(join(directory, 'CURRENT'), 'MANIFEST-000099\n');
    expect(await liveTables(directory)).toBeUndefined();
    await writeFile(join(directory, 'CURRENT'), '../elsewhere\n');
    expect(await liveTables(directory)).toBeUndefined();
  });

  it('reads records of a manifest that span its blocks', async () => {
    // Each table adds its smallest and its largest key: two of 9 kB are 18 kB in the manifest.
    const long = 'k'.repeat(9_000);
    for (let table = 0; table < 6; table += 1) {
      await withDatabase(async (database) => {
        await database.put(`${table}${long}a`, 'value');
        await database.put(`${table}${long}b`, 'value');
        await database.compactRange(emptyRange[0].toString(), emptyRange[1].toString());
      });
    }
    const numbers = (await liveTables(directory))!.map(({ number }) => number);
    expect(numbers.length).toBeGreaterThan(0);
    await checkTables(directory);
    expect(await contents()).toHaveLength(12);
  });
});
