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
import { ManagedCluster } from './managed-cluster.mjs';
import { deployment, inBatches, runningStatus, service } from './manager-objects.mjs';
import { count, printRow } from './row.mjs';
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
async function withCluster(nodeCount, run) {
  const cluster = new ManagedCluster(values.tree);
  try {
    await cluster.start(nodeCount);
    await run(cluster);
  } finally {
    await cluster.stop();
  }
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

async function measureDeployment(cluster) {
  const before = await writesOf(cluster.server);
  const { replicas } = size;
  const { createdMs, boundMs, cpu } = await cluster.deploy(0, replicas, replicas);
  const writes = writesText(before, await writesOf(cluster.server));
  const cpuText = cpu.map(([name, seconds]) => `${name} ${seconds.toFixed(1)} s`).join(', ');
  const detail = `CPU: ${cpuText}; writes: ${writes}; load ${loadavg()[0].toFixed(1)}`;
  printRow(`${count(replicas)} pods created`, `${(createdMs / 1_000).toFixed(1)} s`);
  printRow(`${count(replicas)} pods bound`, `${(boundMs / 1_000).toFixed(1)} s`, detail);
}

async function fill(cluster) {
  const { server } = cluster;
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
  await cluster.podTimes(size.deployments * replicas, performance.now());
  const items = await cluster.pods();
  await inBatches(items.length, async (index) => {
    const path = `/api/v1/namespaces/default/pods/${items[index].metadata.name}/status`;
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

async function measureIdle(cluster) {
  const { server } = cluster;
  const { manager } = cluster.components;
  const what = `${count(await fill(cluster))} pods, ${size.services} services`;
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
