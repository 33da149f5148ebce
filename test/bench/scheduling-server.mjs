/**
 * Measures the scheduler process end to end: pods that exist on a built API server are bound by a
 * built scheduler without a limit of its requests, from its start of binding to the last pod.
 * `npm run bench -- scheduling-server`; `--short` uses a tenth. API server, scheduler and this
 * process share the machine. The CPU times show which process limits the rate.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cpuUs, residentBytes } from './proc.mjs';
import { count, printRow } from './row.mjs';
import { ServerProcess } from './server-process.mjs';

const share = process.argv.includes('--short') ? 0.1 : 1;
const sizes = { nodes: 1_000 * share, pods: 3_000 * share };
const main = resolve(import.meta.dirname, '../../dist/apps/scheduler/src/main.js');
const podPath = '/api/v1/namespaces/default/pods';
const concurrency = 16;
const pollMs = 20;
const timeoutMs = 180_000;

const zones = ['zone-0', 'zone-1', 'zone-2'];
const node = (index) => ({
  ...{ apiVersion: 'v1', kind: 'Node' },
  metadata: { name: `node-${index}`, labels: { 'topology.orch.io/zone': zones[index % 3] } },
  status: { allocatable: { cpu: '32', memory: '128Gi', pods: '110' } },
});
const pod = (index) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: `pod-${index}` } },
  spec: {
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        ...{ name: 'app', image: 'app' },
        resources: { requests: { cpu: '100m', memory: '64Mi' } },
      },
    ],
  },
});

async function createAll(server, path, objectCount, objectOf) {
  let next = 0;
  const work = async () => {
    while (next < objectCount) await server.call('POST', path, objectOf(next++));
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

function kubeconfigOf({ url, token }) {
  return {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'bench' },
    clusters: [{ name: 'bench', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'bench', user: { token } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
  };
}

/** Resolves when as many pods as given are left without a node. */
async function untilWaiting(server, child, isReached) {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const query = 'fieldSelector=spec.nodeName%3D&limit=1&resourceVersion=0';
    const list = JSON.parse(await server.call('GET', `${podPath}?${query}`));
    const waiting = list.items.length + Number(list.metadata.remainingItemCount ?? 0);
    if (isReached(waiting, list)) return;
    if (child.exitCode !== null) throw new Error('the scheduler ended');
    if (performance.now() > endMs) throw new Error(`${waiting} pods wait after ${timeoutMs} ms`);
    await new Promise((done) => setTimeout(done, pollMs));
  }
}

async function eventCount(server) {
  const list = JSON.parse(await server.call('GET', '/api/v1/namespaces/default/events'));
  return list.items.filter(({ reason }) => reason === 'Scheduled').length;
}

const server = new ServerProcess(['--disable-admission-plugins=ServiceAccount', '--dialect=orch']);
await server.start();
let child;
try {
  await createAll(server, '/api/v1/nodes', sizes.nodes, node);
  await createAll(server, podPath, sizes.pods, pod);
  const kubeconfig = join(server.directory, 'scheduler.kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(server)));
  const flags = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'];
  const rates = ['--orch-api-qps=100000', '--orch-api-burst=100000', '--log-level=error'];
  child = spawn(process.execPath, [main, '--dialect=orch', ...flags, ...rates], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const cpu = () => [cpuUs(child.pid), server.cpuUs()];
  // The first bound pod ends the start of the process and its first lists.
  await untilWaiting(server, child, (_, { items }) => items[0]?.metadata.name !== 'pod-0');
  const [startMs, started] = [performance.now(), cpu()];
  const boundBefore =
    sizes.pods -
    JSON.parse(
      await server.call('GET', `${podPath}?fieldSelector=spec.nodeName%3D&resourceVersion=0`),
    ).items.length;
  await untilWaiting(server, child, (waiting, { items }) => items.length === 0 && waiting === 0);
  const seconds = (performance.now() - startMs) / 1_000;
  const [scheduler, api] = cpu().map((us, index) => (us - started[index]) / 1_000_000);
  const placed = sizes.pods - boundBefore;
  const writtenAtEnd = await eventCount(server);
  const memory = Math.round(residentBytes(child.pid) / 1e6);
  const detail = `${sizes.nodes} nodes, CPU: scheduler ${scheduler.toFixed(1)} s, API server ${api.toFixed(1)} s of ${seconds.toFixed(1)} s; scheduler ${memory} MB; ${writtenAtEnd} of ${sizes.pods} events written at the end`;
  printRow('bind pods, scheduler and API server', `${count(placed / seconds)}/s`, detail);
  const endMs = performance.now() + timeoutMs;
  while ((await eventCount(server)) < sizes.pods) {
    if (performance.now() > endMs) throw new Error(`only ${await eventCount(server)} events`);
    await new Promise((done) => setTimeout(done, 200));
  }
  const lag = (performance.now() - startMs) / 1_000 - seconds;
  printRow('- until the last event is written', `${lag.toFixed(1)} s`, 'after the last binding');
} finally {
  if (child?.exitCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await server.stop();
}
