/** Kills a writing process without warning, again and again: what was acknowledged is there. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLocalStore } from './local-store.js';
import { exact, objectAt, quietLogger, WatchRecorder } from './testing/harness.js';
import type { Revision } from './versioned-store.js';

const ROUNDS = 5;
const ROOT = resolve(import.meta.dirname, '../../..');

interface Acknowledged {
  readonly revision: number;
  readonly key: string;
  /** Undefined for a deletion. */
  readonly text: string | undefined;
}

describe('a store whose process is killed', () => {
  let built: string;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'store-crash-'));
    // Inside the repository, so that the packages are found from there.
    built = await mkdtemp(join(ROOT, 'node_modules', '.store-crash-'));
    const swc = join(
      dirname(createRequire(import.meta.url).resolve('@swc/cli/package.json')),
      'bin/swc.js',
    );
    const libs = ['raft', 'store', 'component'].map((lib) => join('libs', lib));
    const options = ['-d', built, '--config-file', '.swcrc', '-q', '--ignore', '**/*.spec.ts'];
    await promisify(execFile)(process.execPath, [swc, ...libs, ...options], { cwd: ROOT });
  });

  afterAll(async () => {
    await rm(built, { recursive: true, force: true });
    await rm(directory, { recursive: true, force: true });
  });

  async function writeAndDie(life: number, afterAcks: number): Promise<Acknowledged[]> {
    const script = join(built, 'libs/store/src/testing/crash-writer.js');
    const child = spawn(process.execPath, [script, directory, String(life)]);
    let output = '';
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.split('\nack ').length > afterAcks) child.kill('SIGKILL');
    });
    const [code, signal] = await new Promise<[number | null, string | null]>((done) =>
      child.on('close', (...ended) => done(ended)),
    );
    if (signal !== 'SIGKILL') throw new Error(`the writer ended with ${code}: ${errors}`);
    const complete = output.slice(0, output.lastIndexOf('\n') + 1);
    return [...complete.matchAll(/^ack (\d+) (\S+) (\S+)$/gm)].map(([, revision, key, text]) => ({
      revision: Number(revision),
      key: key!,
      text: text === '-' ? undefined : text,
    }));
  }

  it('has everything it acknowledged, revisions without a gap, and watches resume', {
    timeout: 40_000,
  }, async () => {
    const acknowledged: Acknowledged[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const afterAcks = 1 + Math.floor(Math.random() * 900);
      const acks = await writeAndDie(round, afterAcks);
      expect(acks.length).toBeGreaterThan(0);
      acknowledged.push(...acks);
      await check(acknowledged);
    }
  });

  async function check(acknowledged: readonly Acknowledged[]): Promise<void> {
    const store = await openLocalStore(directory, {
      clock: systemClock,
      logger: quietLogger,
      onFatal: (error) => {
        throw error;
      },
    });
    const newest = store.revision();
    expect(newest).toBeGreaterThanOrEqual(
      Math.max(...acknowledged.map(({ revision }) => revision)),
    );
    for (const { revision, key, text } of acknowledged) {
      const { entry } = await store.get(key, exact(revision));
      expect(entry?.bytes.toString()).toBe(
        text === undefined ? undefined : objectAt(text, revision),
      );
    }
    const all = await new WatchRecorder(store, '', 0).reached(newest);
    expect(all.events.map(({ revision }) => revision)).toEqual(
      Array.from({ length: newest }, (_, at) => at + 1),
    );
    const from = Math.floor(newest / 2) as Revision;
    const late = await new WatchRecorder(store, '', from).reached(newest);
    expect(late.show()).toEqual(all.show().slice(from));
    await store.stop();
  }
});
