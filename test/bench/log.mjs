/**
 * Measures the replicated log alone, with one voter on a real disk, on its own thread and on the
 * caller's thread: commits per second and their latency, with an idle main thread and with one that
 * is busy four fifths of the time, like an API server under load; and the delay of heartbeats while
 * the main thread is blocked. Decision 0005 is based on it. `npm run bench -- log`;
 * `ORCH_BENCH_DIRECTORY` selects another disk.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { systemClock } from '../../dist/libs/component/src/index.js';
import {
  createWorkerReplicatedLog,
  defaultReplicaTuning,
  FileDisk,
  InThreadReplicatedLog,
  LogStore,
} from '../../dist/libs/raft/src/index.js';
import { percentile, printRow } from './row.mjs';

const commandBytes = 1_024;
const runSeconds = process.argv.includes('--short') ? 0.5 : 3;
const busyMs = 8;
const idleMs = 2;
/** The length of two election timeouts. */
const blockedMs = 2_000;
const identity = {
  memberName: 'a',
  peerUrl: 'https://127.0.0.1:6480',
  clientUrl: '',
  initialMembers: [{ name: 'a', peerUrl: 'https://127.0.0.1:6480' }],
  initialState: 'new',
  clusterToken: 'bench',
};
const silent = {
  debug() {},
  info() {},
  warn: console.warn,
  error: console.error,
  fatal: console.error,
};
silent.child = () => silent;

/** Delays of the replica's timers, which delay its heartbeats. */
let lateMs = [];
const observer = {
  synced() {},
  leadershipChanged() {},
  committed() {},
  refused() {},
  roundTrip() {},
  peerSent() {},
  peerReceived() {},
  peerDropped() {},
  snapshotBytes() {},
  snapshotEnded() {},
  loopDelayed(durationMs) {
    lateMs.push(durationMs);
  },
};
const dependencies = {
  clock: systemClock,
  logger: silent,
  observer,
  onFatal(error) {
    console.error(error);
    process.exit(70);
  },
};

function workerLog(directory) {
  return createWorkerReplicatedLog({ directory, identity, tuning: {} }, dependencies);
}

function sameThreadLog(directory) {
  const disk = new FileDisk();
  const { cacheEntriesMax, cacheBytesMax } = defaultReplicaTuning;
  const openStore = () =>
    new LogStore({
      disk,
      directory,
      clock: systemClock,
      cacheEntriesMax,
      cacheBytesMax,
    });
  return new InThreadReplicatedLog({ ...dependencies, identity, openStore, random: Math.random });
}

/** Resolves when the log leads. Proposals are identified by the number at their beginning. */
async function start(log) {
  const waiting = new Map();
  await new Promise((resolve, reject) => {
    log
      .start(
        { appliedIndex: 0, installed: undefined, needsSnapshot: false },
        {
          onCommitted(entries) {
            for (const { command } of entries) {
              if (command.length === 0) continue;
              const id = command.readUInt32LE(0);
              waiting.get(id)();
              waiting.delete(id);
            }
            return undefined;
          },
          onRefused(ids, error) {
            reject(new Error(`${ids.length} proposals refused`, { cause: error }));
          },
          onLeadership({ role }) {
            if (role === 'leader') resolve();
          },
          snapshots: {},
        },
      )
      .catch(reject);
  });
  return waiting;
}

let lastId = 0;

async function commits(name, log, waiting, writers) {
  const latencies = [];
  lateMs = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const endMs = startedMs + runSeconds * 1_000;
  const write = async () => {
    while (performance.now() < endMs) {
      lastId += 1;
      const id = lastId;
      const command = Buffer.alloc(commandBytes, 1);
      command.writeUInt32LE(id, 0);
      const beganMs = performance.now();
      await new Promise((resolve) => {
        waiting.set(id, resolve);
        log.propose(id, command);
      });
      latencies.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  delay.disable();
  latencies.sort((left, right) => left - right);
  lateMs.sort((left, right) => left - right);
  const cpuUs = Math.round((user + system) / latencies.length);
  const p50 = percentile(latencies, 0.5).toFixed(2);
  const p99 = percentile(latencies, 0.99).toFixed(2);
  const loopMs = (delay.percentile(99) / 1e6).toFixed(0);
  printRow(
    `${name}, ${writers} writers`,
    `${Math.round(latencies.length / seconds)}/s`,
    `${cpuUs} us CPU, p50 ${p50} ms, p99 ${p99} ms, main loop p99 ${loopMs} ms, heartbeats late by at most ${(lateMs.at(-1) ?? 0).toFixed(0)} ms`,
  );
}

function keepBusy() {
  let timer;
  const spin = () => {
    const endMs = performance.now() + busyMs;
    while (performance.now() < endMs);
    timer = setTimeout(spin, idleMs);
  };
  spin();
  return () => clearTimeout(timer);
}

/** Blocks the main thread, like a large list or a garbage collection. */
async function blocked(name) {
  lateMs = [];
  const endMs = performance.now() + blockedMs;
  while (performance.now() < endMs);
  // The measured delays arrive asynchronously.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const worstMs = Math.max(...lateMs);
  printRow(`${name}, main blocked ${blockedMs} ms`, `${worstMs.toFixed(0)} ms`, 'heartbeats late');
}

const parent = process.env.ORCH_BENCH_DIRECTORY ?? tmpdir();
const keepAlive = setInterval(() => undefined, 1_000);
for (const [name, create] of [
  ['own thread', workerLog],
  ['same thread', sameThreadLog],
]) {
  const directory = await mkdtemp(join(parent, 'log-bench-'));
  const log = create(join(directory, 'log'));
  try {
    const waiting = await start(log);
    for (const writers of [1, 32, 256]) await commits(name, log, waiting, writers);
    const rest = keepBusy();
    for (const writers of [1, 32, 256]) await commits(`${name}, busy`, log, waiting, writers);
    rest();
    await blocked(name);
  } finally {
    await log.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
clearInterval(keepAlive);
