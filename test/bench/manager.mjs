/**
 * Measures the controller manager as a process, with one API server and a scheduler.
 * `npm run bench -- manager [--only=deployment,idle] [--short]`:
 *
 * - deployment: the time until the pods of a Deployment of 1,000 replicas exist, and are bound to
 *   20 nodes, with the CPU time of each process.
 * - idle: CPU time, memory and writes with 5,000 running pods and 500 services at rest, for each
 *   of `--minutes=N` (10) minutes and as their average. Garbage is collected in some minutes only.
 *
 * `node test/bench/manager.mjs --tree=DIRECTORY` runs the programs of another built checkout, for
 * paired runs. This process plays the nodes and their agents.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { until } from './bench-files.mjs';
import { ComponentProcess } from './component-process.mjs';
import { deployment, inBatches, node, runningStatus, service } from './manager-objects.mjs';
import { count, printRow } from './row.mjs';
import { ServerProcess } from './server-process.mjs';
import { writesOf } from './write-counts.mjs';

const { values } = parseArgs({
  strict: false,
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string', default: 'deployment,idle' },
    minutes: { type: 'string', default: '10' },
    tree: { type: 'string' },
  },
});
const size = values.short
  ? { replicas: 50, deployments: 2, services: 10, minuteMs: 1_000, settleMs: 1_000 }
  : { replicas: 1_000, deployments: 50, services: 500, minuteMs: 60_000, settleMs: 10_000 };
const minutes = values.short ? 2 : Number(values.minutes);
/** Pause between two checks of the pods. */
const pollMs = 50;
const pods = '/api/v1/namespaces/default/pods';
/** A busy machine must not end a measurement: the processes are the only candidates. */
const electionFlags = ['--leader-elect-lease-duration=60s', '--leader-elect-renew-deadline=50s'];
/** The nodes have no agents that renew their heartbeats. */
const managerFlags = [
  ...electionFlags,
  '--node-monitor-grace-period=1h',
  '--node-startup-grace-period=1h',
  '--orch-api-qps=1000',
  '--orch-api-burst=1000',
];
const schedulerFlags = [...electionFlags, '--orch-api-qps=1000', '--orch-api-burst=1000'];

async function withCluster(nodeCount, run) {
  const server = new ServerProcess([], values.tree);
  const manager = new ComponentProcess('controller-manager', server, managerFlags);
  const scheduler = new ComponentProcess('scheduler', server, schedulerFlags);
  try {
    await server.start();
    await Promise.all([manager.start(), scheduler.start()]);
    const account = '/api/v1/namespaces/default/serviceaccounts/default';
    await until('the service account exists', () => server.call('GET', account));
    await inBatches(nodeCount, async (index) => {
      await server.call('POST', '/api/v1/nodes', node(index));
    });
    await until('the nodes are ready', async () => {
      const { items } = await list(server, '/api/v1/nodes');
      return items.every(({ spec }) => (spec.taints ?? []).length === 0) || undefined;
    });
    await run({ server, manager, scheduler });
  } finally {
    await Promise.all([manager.stop(), scheduler.stop()]);
    await server.stop();
  }
}

async function list(server, path) {
  return JSON.parse(await server.call('GET', path));
}

/** Returns the number of pods, by a list of one. */
async function podCount(server) {
  const { items, metadata } = await list(server, `${pods}?limit=1`);
  return items.length + (metadata.remainingItemCount ?? 0);
}

/** Resolves when all pods are bound; returns the times until they existed and were bound. */
async function podTimes(server, count, startedMs) {
  const timeoutMs = 240_000;
  const exist = async () => (await podCount(server)) >= count || undefined;
  await until('all pods exist', exist, timeoutMs, pollMs);
  const createdMs = performance.now() - startedMs;
  const unbound = async () => {
    const { items } = await list(server, `${pods}?limit=1&fieldSelector=spec.nodeName%3D`);
    return items.length === 0 || undefined;
  };
  await until('all pods are bound', unbound, timeoutMs, pollMs);
  return { createdMs, boundMs: performance.now() - startedMs };
}

/** The writes between two counts: `pods 1000, leases 4`. */
function writesText(before, after) {
  return (
    before
      .until(after)
      .map((entry) => entry.join(' '))
      .join(', ') || 'none'
  );
}

async function measureDeployment({ server, manager, scheduler }) {
  const processes = { server, manager, scheduler };
  const before = Object.entries(processes).map(([name, one]) => [name, one.cpuUs()]);
  const writesBefore = await writesOf(server);
  const startedMs = performance.now();
  await server.call(
    'POST',
    '/apis/apps/v1/namespaces/default/deployments',
    deployment(0, size.replicas),
  );
  const { createdMs, boundMs } = await podTimes(server, size.replicas, startedMs);
  const cpu = before.map(
    ([name, us]) => `${name} ${((processes[name].cpuUs() - us) / 1e6).toFixed(1)} s`,
  );
  const writes = writesText(writesBefore, await writesOf(server));
  const detail = `CPU: ${cpu.join(', ')}; writes: ${writes}; load ${loadavg()[0].toFixed(1)}`;
  printRow(`${count(size.replicas)} pods created`, `${(createdMs / 1_000).toFixed(1)} s`);
  printRow(`${count(size.replicas)} pods bound`, `${(boundMs / 1_000).toFixed(1)} s`, detail);
}

async function fill(server) {
  const replicas = 100;
  await inBatches(size.deployments, (index) =>
    server.call(
      'POST',
      '/apis/apps/v1/namespaces/default/deployments',
      deployment(index, replicas),
    ),
  );
  await inBatches(size.services, (index) =>
    server.call('POST', '/api/v1/namespaces/default/services', service(index, size.deployments)),
  );
  await podTimes(server, size.deployments * replicas, performance.now());
  const { items } = await list(server, pods);
  await inBatches(items.length, async (index) => {
    const path = `${pods}/${items[index].metadata.name}/status`;
    await server.call('PUT', path, { ...items[index], status: runningStatus(index) });
  });
  return items.length;
}

/** Resolves when nothing but leases has been written for a while. */
async function atRest(server) {
  await until(
    'nothing is written',
    async () => {
      const before = await writesOf(server);
      await new Promise((done) => setTimeout(done, size.settleMs));
      const written = before.until(await writesOf(server));
      return written.every(([resource]) => resource === 'leases') || undefined;
    },
    180_000,
  );
}

async function measureIdle({ server, manager }) {
  const what = `${count(await fill(server))} pods, ${size.services} services`;
  printRow('manager at rest', what);
  await atRest(server);
  const before = await writesOf(server);
  let written = before;
  const shares = [];
  for (let minute = 1; minute <= minutes; minute++) {
    const { share, mainShare } = await cpuShares(manager, size.minuteMs);
    shares.push(share);
    const since = written;
    written = await writesOf(server);
    const load = `load ${loadavg()[0].toFixed(1)}`;
    const detail = `${percent(mainShare)} on the main thread; writes: ${writesText(since, written)}; ${load}`;
    printRow(`manager at rest, minute ${minute}`, `${percent(share)} of a core`, detail);
  }
  const writes = writesText(before, written);
  const memory = `${count(manager.residentBytes() / 2 ** 20)} MB resident`;
  const range = `${percent(Math.min(...shares))} to ${percent(Math.max(...shares))} in a minute`;
  const average = shares.reduce((sum, share) => sum + share, 0) / minutes;
  printRow(
    `manager at rest, average of ${minutes} minutes`,
    `${percent(average)} of a core`,
    `${range}; ${memory}; writes: ${writes}`,
  );
}

/** Returns the shares of a core that a process, and its main thread, use in the next time. */
async function cpuShares(component, durationMs) {
  const [us, mainUs, startMs] = [component.cpuUs(), component.mainThreadCpuUs(), performance.now()];
  await new Promise((done) => setTimeout(done, durationMs));
  const elapsedUs = (performance.now() - startMs) * 1_000;
  return {
    share: (component.cpuUs() - us) / elapsedUs,
    mainShare: (component.mainThreadCpuUs() - mainUs) / elapsedUs,
  };
}

function percent(share) {
  return `${(share * 100).toFixed(2)}%`;
}

const parts = values.only.split(',');
if (parts.includes('deployment')) await withCluster(20, measureDeployment);
if (parts.includes('idle')) await withCluster(values.short ? 4 : 60, measureIdle);
