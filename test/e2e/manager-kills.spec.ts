/**
 * A controller manager that is killed at random moments while a mix of workloads changes: the end
 * state is that of an undisturbed run, and no pod too many ever existed for a job, an index of a
 * job or a stateful set. Kills five times; `ORCH_MANAGER_KILLS=200` is the long form.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { KilledComponent } from './support/killed-component.js';
import { SimulatedAgents, type StoredPod } from './support/simulated-agents.js';
import { eventually } from './support/wait.js';
import { WatchClient } from './support/watch-client.js';
import { completions, parallelism, WorkloadMix } from './support/workload-mix.js';

const killCount = Number(process.env.ORCH_MANAGER_KILLS ?? 5);
const runMsMax = 4_000;
const settleMs = 120_000;
const pods = '/api/v1/namespaces/default/pods';
const nodes = ['node-1', 'node-2'];

let cluster: Cluster;
let api: Api;
let agents: SimulatedAgents;
let manager: KilledComponent;
let mix: WorkloadMix;
let watch: WatchClient;

beforeAll(async () => {
  cluster = new Cluster({
    dialect: 'orch',
    replicas: 1,
    components: 'apiserver',
    extraArgs: ['--component-arg=apiserver=--disable-admission-plugins=ServiceAccount'],
  });
  await cluster.up();
  api = new Api(cluster);
  agents = new SimulatedAgents(api, nodes);
  manager = new KilledComponent(cluster, 'controller-manager', [
    '--orch-api-qps=500',
    '--orch-api-burst=500',
    // The nodes have no agents that renew their leases.
    '--controllers=*,-nodelifecycle',
  ]);
  mix = new WorkloadMix(api, nodes.length);
  await agents.prepare();
  const { body } = await api.call<{ metadata: { resourceVersion: string } }>('GET', pods);
  watch = new WatchClient(cluster, { path: pods }, body.metadata.resourceVersion);
});

afterAll(async () => {
  await agents?.stop();
  await watch?.stop();
  await manager?.kill();
  await api?.close();
  await cluster?.destroy();
});

it(
  'ends in the state of an undisturbed run, without a pod too many on the way',
  async () => {
    await mix.create();
    agents.start();
    for (let kill = 0; kill < killCount; kill++) {
      await mix.change();
      manager.start();
      await new Promise((done) => setTimeout(done, Math.random() * runMsMax));
      await manager.kill();
    }
    manager.start();
    await eventually(
      'the end state',
      async () => {
        const differences = await mix.differences();
        if (differences.length > 0) throw new Error(differences.join('\n'));
        return true;
      },
      settleMs,
    );
    checkHistory();
  },
  60_000 + settleMs + killCount * 2 * runMsMax,
);

/** Replays the watch events. */
function checkHistory(): void {
  const present = new Map<string, StoredPod>();
  let jobPodCount = 0;
  for (const { type, object } of watch.events) {
    const pod = object as unknown as StoredPod;
    const { uid, name, labels = {}, annotations = {} } = pod.metadata;
    if (type === 'DELETED') present.delete(uid);
    else present.set(uid, pod);
    if (type !== 'ADDED') continue;
    const all = [...present.values()];
    const sameName = all.filter(({ metadata }) => metadata.name === name);
    expect(sameName.length, `pods named ${name}`).toBe(1);
    const job = labels['job-name'];
    if (job === undefined) continue;
    jobPodCount += 1;
    const ofJob = all.filter(({ metadata }) => metadata.labels?.['job-name'] === job);
    const active = ofJob.filter((one) => !isFinished(one) && !one.metadata.deletionTimestamp);
    const succeeded = ofJob.filter(({ status }) => status?.phase === 'Succeeded');
    expect(active.length, `active pods of ${job}`).toBeLessThanOrEqual(parallelism);
    expect(active.length + succeeded.length, `pods of ${job}`).toBeLessThanOrEqual(completions);
    const index = annotations[indexAnnotation];
    if (index === undefined) continue;
    const ofIndex = [...active, ...succeeded].filter(
      ({ metadata }) => metadata.annotations?.[indexAnnotation] === index,
    );
    expect(ofIndex.length, `pods of index ${index} of ${job}`).toBe(1);
  }
  console.log(`${killCount} kills, ${watch.events.length} events, ${jobPodCount} pods of jobs`);
}

const indexAnnotation = 'batch.orch.io/job-completion-index';

function isFinished({ status }: StoredPod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
