/**
 * The log on real files: under processes that are killed, files that are damaged, and a full disk.
 */

import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '@orch/component';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asLogIndex } from '../core/brands.js';
import type { Entry } from '../core/types.js';
import { append, chain, testIdentity, testStart } from '../testing/log-entries.js';
import { FileDisk } from './disk/file-disk.js';
import { LogStore } from './log-store.js';

const repositoryRoot = resolve(import.meta.dirname, '../../../..');
const run = promisify(execFile);

function newStore(directory: string): LogStore {
  const disk = new FileDisk();
  const bounds = { cacheEntriesMax: 100_000, cacheBytesMax: 100_000_000 };
  return new LogStore({ disk, directory, clock: systemClock, ...bounds });
}

describe('a log on files', () => {
  let parent: string;
  let directory: string;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'file-log-'));
    directory = join(parent, 'log');
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  describe('whose process is killed', () => {
    let built: string;

    beforeAll(async () => {
      // Inside the repository, so that the packages are found from there.
      built = await mkdtemp(join(repositoryRoot, 'node_modules', '.raft-kill-'));
      const cli = createRequire(import.meta.url).resolve('@swc/cli/package.json');
      const libs = ['raft', 'component'].map((lib) => join('libs', lib));
      const options = ['-d', built, '--config-file', '.swcrc', '-q', '--ignore', '**/*.spec.ts'];
      const swc = join(dirname(cli), 'bin/swc.js');
      await run(process.execPath, [swc, ...libs, ...options], { cwd: repositoryRoot });
    }, 60_000);
    afterAll(() => rm(built, { recursive: true, force: true }));

    it('has everything that it acknowledged', { timeout: 60_000 }, async () => {
      for (let round = 0; round < 4; round += 1) {
        const { acknowledged, errors } = await writeUntilKilled(1 + round * 50);
        expect(errors).toBe('');
        const store = newStore(directory);
        const stored = (await store.load())!;
        const [index, checksum, term] = acknowledged.at(-1)!;
        expect(stored.last.index).toBeGreaterThanOrEqual(index);
        expect(stored.hardState.term).toBeGreaterThanOrEqual(term);
        const entry = stored.tail.find((found) => found.index === index);
        expect(entry?.checksum).toBe(checksum);
        expect(stored.tail).toHaveLength(stored.last.index - stored.start.index);
        await store.close();
      }
    });

    async function writeUntilKilled(ackCount: number) {
      const script = join(built, 'libs/raft/src/testing/log-writer.js');
      const child = spawn(process.execPath, [script, directory]);
      let output = '';
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => {
        errors += chunk.toString();
      });
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.split('\n').length > ackCount) child.kill('SIGKILL');
      });
      await new Promise((done) => child.on('close', done));
      // The kill may have truncated the last line.
      const complete = output.slice(0, output.lastIndexOf('\n') + 1);
      const lines = complete.matchAll(/^ack (\d+) (\d+) (\d+)$/gm);
      const acknowledged = [...lines].map(
        ([, ...numbers]) => numbers.map(Number) as [index: number, checksum: number, term: number],
      );
      return { acknowledged, errors };
    }
  });

  describe('whose files are damaged', () => {
    const entries = chain(testStart, 1, ...Array.from({ length: 40 }, (_, at) => `entry ${at}`));

    /** Its directory as the process left it, and the write-ahead file in it. */
    async function makeLog(): Promise<{ kept: string; file: string }> {
      const store = newStore(directory);
      await store.load();
      await store.create(testIdentity, testStart, true);
      for (const entry of entries) await append(store, [entry]);
      await store.close();
      const kept = join(parent, 'kept');
      await cp(directory, kept, { recursive: true });
      const names = await readdir(join(kept, 'leveldb'));
      return { kept, file: join('leveldb', names.find((name) => name.endsWith('.log'))!) };
    }

    async function load(kept: string, damage: () => Promise<void>): Promise<Entry[] | string> {
      await rm(directory, { recursive: true });
      await cp(kept, directory, { recursive: true });
      await damage();
      const store = newStore(directory);
      try {
        return [...(await store.load())!.tail];
      } catch (error) {
        return (error as { code: string }).code;
      } finally {
        await store.close();
      }
    }

    it('is refused when its end is torn off, of which LevelDB says nothing', async () => {
      const { kept, file } = await makeLog();
      const { length } = await readFile(join(kept, file));
      for (const bytes of [1, 7, 100, length >>> 1, length - 1, length]) {
        const found = await load(kept, () => truncate(join(directory, file), length - bytes));
        expect(found).toBe('Corrupt');
      }
      expect(await load(kept, () => rm(join(directory, 'leveldb'), { recursive: true }))).toBe(
        'Corrupt',
      );
      expect(await load(kept, async () => undefined)).toEqual(entries);
    });

    it('is refused or whole, wherever a byte of its files is flipped', async () => {
      const { kept, file } = await makeLog();
      const bytes = await readFile(join(kept, file));
      let refused = 0;
      for (let at = 3; at < bytes.length; at += Math.floor(bytes.length / 40)) {
        const flipped = Buffer.from(bytes);
        flipped[at]! ^= 0x10;
        const found = await load(kept, () => writeFile(join(directory, file), flipped));
        if (found === 'Corrupt') refused += 1;
        else expect(found).toEqual(entries);
      }
      expect(refused).toBeGreaterThan(35);
    });

    it('is whole without its mark', async () => {
      const { kept } = await makeLog();
      expect(await load(kept, () => rm(join(directory, 'tail')))).toEqual(entries);
      expect(await load(kept, () => truncate(join(directory, 'tail'), 9))).toEqual(entries);
    });
  });

  // A file system of its own needs root; elsewhere SimDisk's ENOSPC covers the same code.
  it.skipIf(process.getuid?.() !== 0)(
    'rejects on a full disk, and has everything that it acknowledged once there is room',
    async () => {
      const mounted = await mkdtemp(join(parent, 'small-'));
      await run('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', mounted]);
      try {
        await fillDisk(mounted);
      } finally {
        await run('umount', ['--lazy', mounted]);
      }
    },
  );

  async function fillDisk(mounted: string): Promise<void> {
    directory = join(mounted, 'log');
    await writeFile(join(mounted, 'filler'), Buffer.alloc(2_000_000));
    let store = newStore(directory);
    await store.load();
    await store.create(testIdentity, testStart, true);
    const acknowledged: Entry[] = [];
    const fill = async () => {
      for (;;) {
        const added = chain(acknowledged.at(-1) ?? testStart, 1, 'x'.repeat(20_000));
        await append(store, added);
        acknowledged.push(...added);
      }
    };
    await expect(fill()).rejects.toThrow(/No space left on device/);
    await expect(store.compact(asLogIndex(1))).rejects.toMatchObject({ code: 'Stopped' });
    await store.close();
    expect(acknowledged.length).toBeGreaterThan(10);
    await expect(newStore(directory).load()).rejects.toThrow(
      /No space left on device.* that its disk is not full/,
    );
    await rm(join(mounted, 'filler'));
    store = newStore(directory);
    const stored = (await store.load())!;
    expect(stored.tail.slice(0, acknowledged.length)).toEqual(acknowledged);
    expect(stored.tail.length - acknowledged.length).toBeLessThanOrEqual(1);
    await append(store, chain(stored.last, 1, 'more'));
    await store.close();
  }
});
