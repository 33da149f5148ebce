/**
 * `npm run scale`: a cluster of real processes with hollow nodes, pods, services and churn. Prints
 * the report, or writes it to docs/scale.md with `--report`. Fails if an objective is missed,
 * except with `--short`, the form of `npm test`.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setupAndContinue } from '../../scripts/setup.mjs';
import {
  churn,
  createLoad,
  isReady,
  listPods,
  readyReplicas,
  scaleUp,
  startSeconds,
} from './load.mjs';
import { defaultSize, missedObjectives, report } from './report.mjs';
import { latencies, readBuckets } from './request-latency.mjs';
import { ScaleCluster } from './scale-cluster.mjs';

const short = { nodes: 50, pods: 500, services: 10, churn: 20, seconds: 3 };
const stepTimeoutMs = 3_600_000;
const pollMs = 500;

function optionsOf() {
  const number = { type: 'string' };
  const { values } = parseArgs({
    options: {
      ...{ nodes: number, pods: number, services: number, churn: number, seconds: number },
      ...{ replicas: number, short: { type: 'boolean' }, report: { type: 'boolean' } },
    },
  });
  const { short: isShort = false, report: isReport = false } = values;
  const options = {
    ...(isShort ? short : defaultSize),
    replicas: 1,
    short: isShort,
    report: isReport,
  };
  for (const name of [...Object.keys(defaultSize), 'replicas']) {
    if (values[name] === undefined) continue;
    options[name] = Number(values[name]);
    if (!Number.isInteger(options[name]) || options[name] < 1) {
      throw new Error(`--${name} must be a positive integer: ${values[name]}`);
    }
  }
  return options;
}

/** Resolves with the seconds until `probe` resolves with true; its errors count as false. */
async function secondsUntil(what, probe) {
  const startedMs = performance.now();
  let last = 'not yet true';
  while (performance.now() - startedMs < stepTimeoutMs) {
    try {
      if (await probe()) return (performance.now() - startedMs) / 1_000;
      last = 'not yet true';
    } catch (error) {
      last = error.message;
    }
    await new Promise((done) => setTimeout(done, pollMs));
  }
  throw new Error(`${what}: ${last}`);
}

/** The status of the deployments is cheap to read; the list of all pods confirms it. */
const areAllReady = async (cluster, podCount) =>
  (await readyReplicas(cluster)) === podCount &&
  (await listPods(cluster)).filter(isReady).length === podCount;

/** Kills one process after the other and measures the time until one more pod is ready. */
async function recoveries(cluster) {
  const kills = [];
  for (const name of cluster.pids().keys()) {
    await cluster.kill(name);
    let wanted;
    const seconds = await secondsUntil(`recovery of ${name}`, async () => {
      wanted ??= await scaleUp(cluster);
      return (await readyReplicas(cluster, wanted.name)) === wanted.replicas;
    });
    kills.push({ name, seconds });
    console.log(`recovered from the kill of ${name} in ${seconds.toFixed(1)} s`);
  }
  return kills;
}

function quantiles(seconds) {
  const at = (share) => seconds[Math.min(seconds.length - 1, Math.floor(seconds.length * share))];
  return { p50: at(0.5), p99: at(0.99), most: seconds.at(-1) };
}

const sum = (values) => [...values].reduce((total, value) => total + value, 0);

/** What a pod costs in all processes, from the usage without and with the pods. */
function costOf(without, withPods, podCount) {
  const bytesOf = (usage) => sum([...usage.values()].map(({ residentBytes }) => residentBytes));
  const cpuUsOf = (usage) => sum([...usage.values()].map(({ cpuUs }) => cpuUs));
  return {
    baseBytes: bytesOf(without),
    bytesPerPod: (bytesOf(withPods) - bytesOf(without)) / podCount,
    cpuMsPerPod: (cpuUsOf(withPods) - cpuUsOf(without)) / podCount / 1_000,
  };
}

async function measure(cluster, options) {
  const before = readBuckets(await cluster.call('GET', '/metrics'));
  const without = cluster.usage();
  await createLoad(cluster, options);
  const allReady = () => areAllReady(cluster, options.pods);
  const startedMs = performance.now();
  const createSeconds = await secondsUntil('all pods are ready', allReady);
  console.log(`${options.pods} pods are ready after ${createSeconds.toFixed(1)} s`);
  const cost = costOf(without, cluster.usage(), options.pods);
  const first = await listPods(cluster);
  const churnStartMs = performance.now();
  const churnCount = await churn(cluster, options.churn, options.seconds);
  const churnSeconds = (performance.now() - churnStartMs) / 1_000;
  await secondsUntil('replaced pods are ready', allReady);
  const known = new Set(first.map(({ metadata }) => metadata.uid));
  const replaced = (await listPods(cluster)).filter(({ metadata }) => !known.has(metadata.uid));
  const rows = latencies(before, readBuckets(await cluster.call('GET', '/metrics')));
  const usage = [...cluster.usage()].map(([name, { cpuUs, residentBytes }]) => {
    return { name, bytes: residentBytes, seconds: cpuUs / 1e6 };
  });
  console.log(`measured for ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
  return {
    rows,
    usage,
    cost,
    created: { seconds: createSeconds, rate: options.pods / createSeconds },
    churned: { count: churnCount, seconds: churnSeconds },
    start: { all: quantiles(startSeconds(first)), churned: quantiles(startSeconds(replaced)) },
    kills: options.short ? [] : await recoveries(cluster),
  };
}

const options = optionsOf();
await setupAndContinue();
const load = loadavg()[0].toFixed(1);
const conditions = `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, load average ${load} before the start.`;
const cluster = new ScaleCluster(options);
try {
  await cluster.start();
  const isUp = async () => {
    const { items } = await cluster.json('GET', '/api/v1/nodes?resourceVersion=0');
    return items.filter(({ spec }) => !spec.taints?.length).length === options.nodes;
  };
  console.log(
    `nodes are ready after ${(await secondsUntil('nodes are ready', isUp)).toFixed(1)} s`,
  );
  const measured = await measure(cluster, options);
  const date = new Date().toISOString().slice(0, 10);
  const machine = { cores: availableParallelism(), memoryBytes: totalmem() };
  const text = report({ date, conditions, options, ...machine, ...measured });
  if (options.report) writeFileSync(resolve(import.meta.dirname, '../../docs/scale.md'), text);
  else console.log(text);
  if (options.report) console.log('written: docs/scale.md');
  const missed = missedObjectives(measured.rows);
  for (const row of missed) console.error(`missed: ${row}`);
  // The short form checks that all of this works, on machines that do other things beside it.
  if (missed.length > 0 && !options.short) process.exitCode = 1;
} finally {
  await cluster.stop();
}
