import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, systemClock } from '@orch/component';
import { ClassicLevel } from 'classic-level';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BATCH_ENTRIES_MAX, COMMAND_BYTES_MAX } from '../limits.js';
import type { CommittedEntry, LogIndex } from '../replicated-log.js';
import { entryKey } from './entry-codec.js';
import { LocalLog, type LocalLogOptions } from './local-log.js';

const logger = { info: () => undefined, warn: () => undefined } as unknown as Logger;
const index = (value: number) => value as LogIndex;

describe('LocalLog', () => {
  let directory: string;
  let log: LocalLog;
  let delivered: CommittedEntry[];
  let batches: number[];
  const fatal: Error[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'local-log-'));
    fatal.length = 0;
    await open(0);
  });

  afterEach(async () => {
    await log.stop();
    await rm(directory, { recursive: true, force: true });
  });

  function create(options: Partial<LocalLogOptions> = {}): LocalLog {
    return new LocalLog({
      directory: join(directory, 'log'),
      clock: systemClock,
      logger,
      onFatal: (error) => fatal.push(error),
      observer: { synced: (entryCount) => batches.push(entryCount) },
      ...options,
    });
  }

  async function open(appliedIndex: number, options: Partial<LocalLogOptions> = {}): Promise<void> {
    delivered = [];
    batches = [];
    log = create(options);
    await log.start(index(appliedIndex), (entries) => {
      delivered.push(...entries);
      return undefined;
    });
  }

  const propose = (text: string, timeoutMs = 5_000) =>
    log.propose(Buffer.from(text), systemClock.monotonicMs() + timeoutMs);
  const texts = () => delivered.map((entry) => `${entry.index} ${entry.command}`);

  async function damage(change: (database: ClassicLevel<Buffer, Buffer>) => Promise<void>) {
    const database = new ClassicLevel<Buffer, Buffer>(join(directory, 'log', 'leveldb'), {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
    });
    await change(database);
    await database.close();
  }

  it('delivers in order before it resolves, and again after a restart', async () => {
    expect(await propose('one')).toBe(1);
    expect(texts()).toEqual(['1 one']);
    await Promise.all(['two', 'three', 'four'].map((text) => propose(text)));
    expect(await log.readBarrier(0)).toBe(4);
    await log.stop();
    await open(2);
    expect(texts()).toEqual(['3 three', '4 four']);
    expect(await propose('five')).toBe(5);
  });

  it('writes together what arrives together', async () => {
    const count = BATCH_ENTRIES_MAX + 50;
    const indexes = await Promise.all(Array.from({ length: count }, (_, at) => propose(`${at}`)));
    expect(indexes).toEqual(Array.from({ length: count }, (_, at) => at + 1));
    expect(batches).toEqual([BATCH_ENTRIES_MAX, 50]);
  });

  it('waits for a state that cannot keep up', async () => {
    await log.stop();
    log = create();
    let release: () => void = () => undefined;
    let calls = 0;
    await log.start(index(0), () => {
      calls += 1;
      return new Promise((resolve) => {
        release = resolve;
      });
    });
    await propose('one');
    const second = propose('two');
    expect(log.status().proposalsPending).toBe(1);
    expect(calls).toBe(1);
    release();
    expect(await second).toBe(2);
    release();
  });

  it('bounds what waits', async () => {
    await log.stop();
    await open(0, { pendingEntriesMax: 2 });
    const taken = [propose('one'), propose('two')];
    await expect(propose('three')).rejects.toMatchObject({ code: 'QueueFull' });
    await Promise.all(taken);
    expect(await propose('three')).toBe(3);
    const large = Buffer.alloc(COMMAND_BYTES_MAX + 1);
    await expect(log.propose(large, Number.MAX_VALUE)).rejects.toMatchObject({ code: 'TooLarge' });
  });

  it('does not write what has no time left', async () => {
    await expect(propose('late', -1)).rejects.toMatchObject({ code: 'DeadlineExceeded' });
    expect(await propose('one')).toBe(1);
  });

  it('is cut, and knows where it goes on', async () => {
    for (const text of ['one', 'two', 'three']) await propose(text);
    await log.truncate(index(2));
    expect(log.status()).toMatchObject({ firstIndex: 3, lastIndex: 3 });
    await log.stop();
    await open(2);
    expect(texts()).toEqual(['3 three']);
    await log.truncate(index(3));
    await log.stop();
    await open(3);
    expect(log.status()).toMatchObject({ firstIndex: 4, lastIndex: 3 });
    expect(await propose('four')).toBe(4);
    await log.stop();
    log = create();
    await expect(log.start(index(1), () => undefined)).rejects.toMatchObject({ code: 'Corrupt' });
  });

  it('finds damaged, misplaced and missing entries', async () => {
    for (const text of ['one', 'two', 'three']) await propose(text);
    await log.stop();
    let good: Buffer = Buffer.alloc(0);
    const refuses = async (applied = 0) => {
      log = create();
      const started = log.start(index(applied), () => undefined);
      await expect(started).rejects.toMatchObject({ code: 'Corrupt' });
      await log.stop();
    };
    await damage(async (database) => {
      good = (await database.get(entryKey(2)))!;
      const flipped = Buffer.from(good);
      flipped[flipped.length - 1]! ^= 1;
      await database.put(entryKey(2), flipped);
    });
    await refuses();
    await damage((database) => database.put(entryKey(3), good));
    await damage((database) => database.put(entryKey(2), good));
    await refuses();
    await damage((database) => database.del(entryKey(2)));
    await refuses();
    await damage((database) => database.del(entryKey(3)));
    await refuses(3);
  });

  it('names cause and cure of a directory that it cannot use', async () => {
    const second = create();
    await expect(second.start(index(0), () => undefined)).rejects.toThrow(
      /in use by another process: stop that process/,
    );
    await mkdir(join(directory, 'foreign'));
    await writeFile(join(directory, 'foreign', 'letter.txt'), 'dear reader');
    const foreign = create({ directory: join(directory, 'foreign') });
    await expect(foreign.start(index(0), () => undefined)).rejects.toMatchObject({
      code: 'BadDirectory',
      message: expect.stringMatching(/is not a log directory: choose an empty directory/),
    });
    const file = create({ directory: join(directory, 'foreign', 'letter.txt') });
    await expect(file.start(index(0), () => undefined)).rejects.toMatchObject({
      code: 'BadDirectory',
    });
    await writeFile(join(directory, 'foreign', 'format.json'), '{"kind":"log","version":99}');
    const newer = create({ directory: join(directory, 'foreign') });
    await expect(newer.start(index(0), () => undefined)).rejects.toThrow(/has format 99/);
    await writeFile(join(directory, 'foreign', 'format.json'), '{"kind":"state","version":1}');
    const other = create({ directory: join(directory, 'foreign') });
    await expect(other.start(index(0), () => undefined)).rejects.toThrow(/holds "state"/);
  });

  it('refuses everything once it is stopped', async () => {
    const pending = propose('one').catch((error: { code: string }) => error.code);
    await log.stop();
    expect([1, 'Stopped']).toContain(await pending);
    await expect(propose('two')).rejects.toMatchObject({ code: 'Stopped' });
    await expect(log.readBarrier(0)).rejects.toMatchObject({ code: 'Stopped' });
  });

  it('ends when applying fails, and acknowledges nothing more', async () => {
    await log.stop();
    log = create();
    await log.start(index(0), () => {
      throw new Error('cannot apply');
    });
    const [first, second] = [propose('one'), propose('two')];
    await expect(first).rejects.toMatchObject({ code: 'OutcomeUnknown' });
    await expect(second).rejects.toMatchObject({ code: 'OutcomeUnknown' });
    await expect(propose('three')).rejects.toMatchObject({ code: 'Stopped' });
    expect(fatal).toHaveLength(1);
    expect(log.status().unavailableReason).toMatch(/cannot apply/);
  });
});
