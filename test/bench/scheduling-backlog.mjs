/**
 * Measures the scheduler with its queue and watches, against an API server in memory, on 1,000
 * nodes: the rate at which pods are bound alone, with 10,000 pods that fit nowhere, and while
 * 10,000 other pods are deleted. `npm run bench -- scheduling-backlog`; `--short` uses a tenth.
 */
import { EventRecorder, InformerFactory, resources } from '../../dist/libs/client/src/index.js';
import { MemoryApiClient } from '../../dist/libs/client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../dist/libs/client/src/testing/memory-api-server.js';
import { Metrics, systemClock } from '../../dist/libs/component/src/index.js';
import {
  buildProfile,
  defaultPluginSets,
  Scheduler,
  SchedulerMetrics,
} from '../../dist/libs/scheduling/src/index.js';
import { count, printRow } from './row.mjs';

const share = process.argv.includes('--short') ? 0.1 : 1;
const sizes = { nodes: 1_000 * share, backlog: 10_000 * share, pods: 2_000 * share };
const silent = () => undefined;
const logger = {
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
  child: () => logger,
};

/** Binds pods, as the API server does, and counts them. */
class BindingClient extends MemoryApiClient {
  boundCount = 0;

  constructor(server) {
    super(server);
    this.memory = server;
  }

  async request(method, path, options) {
    const [, namespace, name] = /\/namespaces\/([^/]+)\/pods\/([^/]+)\/binding$/.exec(path) ?? [];
    if (method !== 'POST' || !name) return super.request(method, path, options);
    this.boundCount++;
    this.memory.change(resources.pods, `${namespace}/${name}`, (pod) => ({
      ...pod,
      spec: { ...pod.spec, nodeName: options.body.target.name },
    }));
    return super.request('GET', path.replace(/\/binding$/, ''));
  }
}

function startScheduler(server) {
  const client = new BindingClient(server);
  const informers = new InformerFactory({ client, logger });
  const recorder = new EventRecorder({ client, component: 'default-scheduler', logger });
  const definition = {
    schedulerName: 'default-scheduler',
    sets: defaultPluginSets('DefaultProvider', true),
    ...{ args: new Map(), source: 'bench' },
  };
  const scheduler = new Scheduler(
    {
      ...{ client, informers, logger, clock: systemClock, random: Math.random },
      recorderOf: () => recorder,
      metrics: new SchedulerMetrics(new Metrics()),
      prefersNominatedNode: false,
    },
    {
      profiles: [buildProfile(definition, { hasDefaultSpread: true, ignoredResources: [] })],
      ...{ extenders: [], percentageOfNodesToScore: 0, warnings: [], process: { election: {} } },
      ...{ backoffInitialMs: 1_000, backoffMaxMs: 10_000 },
    },
  );
  return { client, informers, recorder, scheduler };
}

const node = (index) => ({
  metadata: { name: `node-${index}` },
  status: { allocatable: { cpu: '32', memory: '128Gi', pods: '110' } },
});
const pod = (name, cpu, nodeName) => ({
  metadata: { name, namespace: 'default' },
  spec: {
    schedulerName: 'default-scheduler',
    ...(nodeName && { nodeName }),
    containers: [{ name: 'app', image: 'app', resources: { requests: { cpu } } }],
  },
});

async function until(condition) {
  const endMs = performance.now() + 300_000;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error('the bench did not finish within 300 s');
    await new Promise((done) => setTimeout(done, 5));
  }
}

async function measure(title, { waitingCount = 0, deletedCount = 0 }) {
  const server = new MemoryApiServer();
  for (let index = 0; index < sizes.nodes; index++) server.seed(resources.nodes, node(index));
  for (let index = 0; index < deletedCount; index++) {
    server.seed(resources.pods, pod(`old-${index}`, '100m', `node-${index % sizes.nodes}`));
  }
  for (let index = 0; index < waitingCount; index++) {
    server.seed(resources.pods, pod(`large-${index}`, '64'));
  }
  const { client, informers, recorder, scheduler } = startScheduler(server);
  scheduler.follow(() => true);
  informers.start();
  await informers.whenSynced(60_000);
  scheduler.start();
  await until(() => scheduler.queue.sizes.unschedulable === waitingCount);
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()];
  for (let index = 0; index < sizes.pods; index++) {
    server.seed(resources.pods, pod(`new-${index}`, '100m'));
  }
  const deletions = deleteAll(client, deletedCount);
  await until(() => client.boundCount === sizes.pods);
  const seconds = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage(startCpu);
  await deletions;
  const perCpuSecond = count((sizes.pods * 1_000_000) / (user + system));
  const figure = `${count(sizes.pods / seconds)}/s`;
  if (title) printRow(`bind pods, ${title}`, figure, `${perCpuSecond} per CPU second`);
  await scheduler.stop();
  await recorder.stop(0);
  await informers.stop();
}

async function deleteAll(client, deletedCount) {
  const pods = client.resource(resources.pods, 'default');
  for (let index = 0; index < deletedCount; index++) {
    await pods.delete(`old-${index}`, { gracePeriodSeconds: 0 });
  }
}

// The first run compiles the code.
await measure('', {});
await measure('alone', {});
await measure(`${count(sizes.backlog)} wait`, { waitingCount: sizes.backlog });
await measure(`${count(sizes.backlog)} are deleted`, { deletedCount: sizes.backlog });
await measure(`${count(sizes.backlog)} wait and ${count(sizes.backlog)} are deleted`, {
  waitingCount: sizes.backlog,
  deletedCount: sizes.backlog,
});
