/**
 * The replica on a real thread and a real disk: its file is bundled from the sources as the
 * server's is.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '@orch/component';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LogRecorder, StateDisk } from '../testing/log-recorder.js';
import { quietLogger } from '../testing/replica-cluster.js';
import { createWorkerReplicatedLog, type WorkerReplicaOptions } from './start-worker.js';
import type { WorkerReplicatedLog } from './worker-replicated-log.js';

const root = resolve(import.meta.dirname, '../../../..');
const peerUrl = 'https://127.0.0.1:6480';
const logger = { ...quietLogger, error: (...line: unknown[]) => console.error(...line) };

async function until(condition: () => boolean, what: string): Promise<void> {
  const giveUpMs = systemClock.monotonicMs() + 10_000;
  while (!condition()) {
    if (systemClock.monotonicMs() > giveUpMs) throw new Error(`timed out waiting until ${what}`);
    await new Promise((again) => setTimeout(again, 5));
  }
}

describe('the replica on its own thread', () => {
  let built: string;
  let directory: string;
  let log: WorkerReplicatedLog;
  let state: LogRecorder;
  let fatal: Error[];

  beforeAll(async () => {
    // Within the tree, so that modules that are not bundled resolve from there.
    built = await mkdtemp(join(root, 'node_modules', '.replica-thread-'));
    await build({
      entryPoints: [join(import.meta.dirname, 'worker-main.ts')],
      outfile: join(built, 'worker.mjs'),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      keepNames: true,
      external: ['classic-level'],
      packages: 'external',
      alias: { '@orch/component': join(root, 'libs/component/src/index.ts') },
      tsconfig: join(root, 'tsconfig.json'),
      logLevel: 'error',
    });
  });

  afterAll(() => rm(built, { recursive: true, force: true }));

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'replica-thread-'));
    fatal = [];
  });

  afterEach(async () => {
    await log.stop();
    await rm(directory, { recursive: true, force: true });
  });

  function create(
    options: Partial<WorkerReplicaOptions> = {},
    disk = new StateDisk(),
  ): WorkerReplicatedLog {
    state = new LogRecorder(disk);
    log = createWorkerReplicatedLog(
      {
        directory: join(directory, 'log'),
        identity: {
          memberName: 'a',
          peerUrl,
          clientUrl: '',
          initialMembers: [{ name: 'a', peerUrl }],
          initialState: 'new',
          clusterToken: 'test',
        },
        tuning: {},
        ...options,
      },
      { clock: systemClock, logger, onFatal: (error) => fatal.push(error) },
      join(built, 'worker.mjs'),
    );
    return log;
  }

  it('commits to a real disk, and finds it again after a stop', async () => {
    await create().start(state.state, state);
    await until(() => log.status().role === 'leader', 'it leads');
    for (let id = 1; id <= 300; id += 1) log.propose(id, Buffer.from(`command ${id}`));
    await until(() => state.texts.includes('command 300'), 'all are applied');
    expect(await log.readBarrier(systemClock.monotonicMs() + 5_000)).toBe(301);
    await log.stop();
    await create().start(state.state, state);
    await until(() => state.texts.includes('command 300'), 'all are applied again');
    expect(state.texts.filter((text) => text !== '')).toHaveLength(300);
    expect(fatal).toEqual([]);
  });

  it('refuses a start with the words of the log', async () => {
    await create().start(state.state, state);
    const first = log;
    const second = create();
    await expect(second.start(state.state, state)).rejects.toMatchObject({
      name: 'LogError',
      code: 'BadDirectory',
      message: expect.stringContaining('in use'),
    });
    await second.stop();
    log = first;
  });

  it('is fatal to the process when it dies', async () => {
    await create({
      network: {
        listenUrl: peerUrl,
        certificates: { certificateFile: '/none', keyFile: '/none', authoritiesFile: '/none' },
      },
    });
    await expect(log.start(state.state, state)).rejects.toThrow(/\/none/);
    await log.stop();
    create({ tuning: { heartbeatMs: 0 } });
    log.start(state.state, state).catch(() => undefined);
    await until(() => fatal.length > 0, 'the end of the thread is told');
    expect(fatal[0]!.message).toMatch(/heartbeat interval/);
  });
});
