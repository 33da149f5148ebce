/**
 * Measures the store alone, in its own process, with one voter on a real disk: commits, lists,
 * watch fan-out and start-up.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { systemClock } from '../../dist/libs/component/src/index.js';
import { openReplicatedStore } from '../../dist/libs/store/src/index.js';
import { percentile, printRow } from './row.mjs';

const objectBytes = 1_024;
const short = process.argv.includes('--short');
const commitSeconds = short ? 0.5 : 3;
const listCount = short ? 2_000 : 20_000;
const silent = {
  debug() {},
  info() {},
  warn: console.warn,
  error: console.error,
  fatal: console.error,
};
silent.child = () => silent;
const dependencies = {
  clock: systemClock,
  logger: silent,
  onFatal(error) {
    console.error(error);
    process.exit(70);
  },
};

const parent = process.env.ORCH_BENCH_DIRECTORY ?? tmpdir();
const directory = await mkdtemp(join(parent, 'store-bench-'));
const body = Buffer.from(`{"rv":"","data":"${'x'.repeat(objectBytes - 20)}"}`);
const delay = monitorEventLoopDelay({ resolution: 1 });
let store = await openSole();
let sequence = 0;

/** Opens a store with one voter; resolves when it is ready. */
async function openSole() {
  const peerUrl = 'https://127.0.0.1:6480';
  const identity = {
    memberName: 'default',
    peerUrl,
    clientUrl: 'https://127.0.0.1:6443',
    initialMembers: [{ name: 'default', peerUrl }],
    initialState: 'new',
    clusterToken: 'cluster',
  };
  const opened = await openReplicatedStore({ dataDirectory: directory, identity }, dependencies);
  while (!opened.store.status().ready) await new Promise((resolve) => setTimeout(resolve, 1));
  return opened.store;
}

function put(key) {
  return { kind: 'put', key, bytes: body, revisionOffset: 7 };
}

function report(name, figure, detail = '') {
  const worst = `loop max ${(delay.max / 1e6).toFixed(0)} ms`;
  printRow(name, figure, detail === '' ? worst : `${detail}, ${worst}`);
  delay.reset();
}

async function commits(writers) {
  const latencies = [];
  const cpu = process.cpuUsage();
  const endMs = performance.now() + commitSeconds * 1_000;
  const startedMs = performance.now();
  const write = async () => {
    while (performance.now() < endMs) {
      sequence += 1;
      const key = `core/configmaps/bench/${String(sequence).padStart(9, '0')}`;
      const beganMs = performance.now();
      await store.commit([{ ...put(key), expect: { kind: 'absent' } }], 10_000);
      latencies.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  latencies.sort((left, right) => left - right);
  report(
    `commit 1 KB, ${writers} writers`,
    `${Math.round(latencies.length / seconds)}/s`,
    `${Math.round((user + system) / latencies.length)} us CPU, p50 ${percentile(latencies, 0.5).toFixed(2)} ms, p99 ${percentile(latencies, 0.99).toFixed(2)} ms`,
  );
}

async function fill(prefix, count) {
  for (let done = 0; done < count; done += 256) {
    await Promise.all(
      Array.from({ length: Math.min(256, count - done) }, (_, at) =>
        store.commit([put(`${prefix}${String(done + at).padStart(7, '0')}`)], 10_000),
      ),
    );
  }
}

async function timed(name, rounds, action) {
  const times = [];
  let result;
  for (let round = 0; round < rounds; round += 1) {
    const beganMs = performance.now();
    result = await action();
    times.push(performance.now() - beganMs);
  }
  times.sort((left, right) => left - right);
  report(name, `${percentile(times, 0.5).toFixed(3)} ms`, `max ${times.at(-1).toFixed(3)} ms`);
  return result;
}

async function lists() {
  const prefix = 'apps/deployments/';
  await fill(`${prefix}a/`, listCount);
  const before = store.revision();
  const read = (consistency) => ({ consistency, timeoutMs: 5_000 });
  const list = (consistency, limit) => store.list(prefix, { ...read(consistency), limit });
  delay.reset();
  await timed(`list ${listCount}, quorum`, 50, () => list({ kind: 'quorum' }));
  await timed('list page of 500, quorum', 50, () => list({ kind: 'quorum' }, 500));
  await timed('get, quorum', 2_000, () =>
    store.get(`${prefix}a/0000007`, read({ kind: 'quorum' })),
  );
  await fill(`${prefix}a/`, listCount);
  delay.reset();
  await timed(`list ${listCount}, all overwritten since`, 3, () =>
    list({ kind: 'exact', revision: before }),
  );
}

async function fanOut(watcherCount, eventCount) {
  let delivered = 0;
  const handles = Array.from({ length: watcherCount }, () =>
    store.watch({
      prefix: 'core/events/',
      afterRevision: store.revision(),
      onEvents: (events) => {
        delivered += events.length;
      },
      onEnd: (error) => console.error(error),
    }),
  );
  delay.reset();
  const beganMs = performance.now();
  await fill('core/events/a/', eventCount);
  const seconds = (performance.now() - beganMs) / 1_000;
  for (const handle of handles) handle.close();
  report(
    `watch fan-out, ${watcherCount} watches`,
    `${Math.round(delivered / seconds)}/s`,
    `${delivered} of ${watcherCount * eventCount} delivered`,
  );
}

try {
  delay.enable();
  for (const writers of [1, 32, 256]) await commits(writers);
  await lists();
  await fanOut(1_000, short ? 100 : 2_000);
  await fanOut(10_000, short ? 20 : 500);
  const { keyCount, revision } = store.status();
  await store.stop();
  delay.reset();
  const beganMs = performance.now();
  store = await openSole();
  report(
    `start, ${keyCount} keys, revision ${revision}`,
    `${Math.round(performance.now() - beganMs)} ms`,
  );
  const { rss, heapUsed } = process.memoryUsage();
  printRow('memory', `${Math.round(rss / 1e6)} MB`, `heap ${Math.round(heapUsed / 1e6)} MB`);
} finally {
  await store.stop();
  await rm(directory, { recursive: true, force: true });
}
