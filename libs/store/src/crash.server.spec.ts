/** Kills a writing process repeatedly: every acknowledged commit must survive. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exact, objectAt, WatchRecorder } from './testing/harness.js';
import { openSole } from './testing/sole-store.js';

const roundCount = 5;
const rootDirectory = resolve(import.meta.dirname, '../../..');

interface Acknowledged {
  readonly revision: number;
  readonly key: string;
  /** Undefined for a deletion. */
  readonly text: string | undefined;
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly errors: string;
  readonly acknowledged: Acknowledged[];
}

describe('store whose process is killed', () => {
  let built: string;
  let parent: string;

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'store-crash-'));
    // Inside the repository, so that the packages are found from there.
    built = await mkdtemp(join(rootDirectory, 'node_modules', '.store-crash-'));
    const swc = join(
      dirname(createRequire(import.meta.url).resolve('@swc/cli/package.json')),
      'bin/swc.js',
    );
    const libs = ['raft', 'store', 'component'].map((lib) => join('libs', lib));
    const options = ['-d', built, '--config-file', '.swcrc', '-q', '--ignore', '**/*.spec.ts'];
    await promisify(execFile)(process.execPath, [swc, ...libs, ...options], { cwd: rootDirectory });
  }, 30_000);

  afterAll(async () => {
    await rm(built, { recursive: true, force: true });
    await rm(parent, { recursive: true, force: true });
  });

  it('has every acknowledged commit after kills, without a gap, and resumes watches', {
    timeout: 60_000,
  }, async () => {
    const directory = join(parent, 'killed');
    const acknowledged: Acknowledged[] = [];
    for (let round = 0; round < roundCount; round += 1) {
      const ended = await runWriter(directory, round, 1 + Math.floor(Math.random() * 900));
      expect(ended).toMatchObject({ signal: 'SIGKILL', errors: '' });
      acknowledged.push(...ended.acknowledged);
      await check(directory, acknowledged);
    }
  });

  it('has every acknowledged commit when the disk is full', {
    timeout: 60_000,
  }, async () => {
    const directory = join(parent, 'full');
    // Blocks of 512 bytes: a write that would make a file larger fails, as on a full disk.
    const limits = 'trap "" XFSZ; ulimit -f 1500;';
    const ended = await runWriter(directory, 0, 50_000, limits);
    expect(ended.code).toBe(70);
    expect(ended.errors).toMatch(/writing the (log|state database) failed/);
    expect(ended.acknowledged.length).toBeGreaterThan(100);
    await check(directory, ended.acknowledged);
  });

  /**
   * Runs the writer, under the shell's `limits`, and kills it once it has printed `ackCount` lines.
   */
  async function runWriter(
    directory: string,
    life: number,
    ackCount: number,
    limits = '',
  ): Promise<Ended> {
    const script = join(built, 'libs/store/src/testing/crash-writer.js');
    const command = `${limits} exec "$0" "$@"`;
    const parameters = [process.execPath, script, directory, String(life)];
    const child = spawn('/bin/sh', ['-c', command, ...parameters]);
    let output = '';
    let errors = '';
    let lineCount = 0;
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      lineCount += chunk.toString().split('\n').length - 1;
      if (lineCount > ackCount) child.kill('SIGKILL');
    });
    const [code, signal] = await new Promise<[number | null, string | null]>((done) =>
      child.on('close', (...ended) => done(ended)),
    );
    return { code, signal, errors, acknowledged: parse(output) };
  }

  async function check(directory: string, acknowledged: readonly Acknowledged[]): Promise<void> {
    const store = await openSole(directory);
    const newest = store.revision();
    let highest = 0;
    for (const { revision, key, text } of acknowledged) {
      highest = Math.max(highest, revision);
      const { entry } = await store.get(key, exact(revision));
      if (entry?.bytes.toString() !== (text === undefined ? undefined : objectAt(text, revision))) {
        throw new Error(`what was acknowledged at revision ${revision} of ${key} is lost`);
      }
    }
    expect(newest).toBeGreaterThanOrEqual(highest);
    const all = await new WatchRecorder(store, '', 0).reached(newest);
    expect(all.events.map(({ revision }) => revision)).toEqual(
      Array.from({ length: newest }, (_, at) => at + 1),
    );
    const from = Math.floor(newest / 2);
    const late = await new WatchRecorder(store, '', from).reached(newest);
    expect(late.show()).toEqual(all.show().slice(from));
    await store.stop();
  }
});

/** The kill may have truncated the last line: only complete lines count. */
function parse(output: string): Acknowledged[] {
  const complete = output.slice(0, output.lastIndexOf('\n') + 1);
  return [...complete.matchAll(/^ack (\d+) (\S+) (\S+)$/gm)].map(([, revision, key, text]) => ({
    revision: Number(revision),
    key: key!,
    text: text === '-' ? undefined : text,
  }));
}
