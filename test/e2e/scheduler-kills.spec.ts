/**
 * A scheduler that is killed at random moments under load: every pod is bound at most once, no node
 * is overcommitted at any moment, and nothing of a killed process blocks the next one. Kills five
 * times; `npm run scheduling -- kills` a hundred times.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { KilledComponent } from './support/killed-component.js';
import { type LoadPod, milliCpuOf, nodeMilliCpu, PodLoad, podPath } from './support/pod-load.js';
import { eventually } from './support/wait.js';
import { WatchClient } from './support/watch-client.js';

const killCount = Number(process.env.ORCH_SCHEDULER_KILLS ?? 5);

let cluster: Cluster;
let api: Api;
let load: PodLoad;
let scheduler: KilledComponent;
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
  load = new PodLoad(api);
  scheduler = new KilledComponent(cluster, 'scheduler');
  await load.prepare();
  const { body } = await api.call<{ metadata: { resourceVersion: string } }>('GET', podPath);
  watch = new WatchClient(cluster, { path: podPath }, body.metadata.resourceVersion);
});

afterAll(async () => {
  await watch?.stop();
  await load?.stop();
  await scheduler?.kill();
  await api?.close();
  await cluster?.destroy();
});

const observed = () =>
  watch.events.map(({ type, object }) => ({ type, pod: object as unknown as LoadPod }));
const boundUids = () =>
  new Set(observed().flatMap(({ pod }) => (pod.spec.nodeName ? [pod.metadata.uid] : [])));

it(
  'binds every pod once and overcommits no node when it is killed under load',
  async () => {
    load.start();
    for (let kill = 0; kill < killCount; kill++) {
      const before = boundUids().size;
      scheduler.start();
      await eventually('the scheduler to bind a pod', () => boundUids().size > before);
      await new Promise((done) => setTimeout(done, Math.random() * 300));
      await scheduler.kill();
    }
    await load.stop();
    checkBindings();
    scheduler.start();
    await load.removeLowPods();
    await eventually('the remaining pods to be bound', async () =>
      (await load.pods()).every(({ spec }) => spec.nodeName !== undefined),
    );
    // A leaked nomination or assumption would keep room that these pods need.
    const filled = await load.fillNodes();
    await eventually('all free room to be used', async () => {
      const pods = await load.pods();
      const waiting = pods
        .filter(({ spec }) => !spec.nodeName)
        .map(({ metadata }) => metadata.name);
      if (waiting.length > 0) throw new Error(`these pods wait: ${waiting}`);
      return filled.every((name) => pods.some(({ metadata }) => metadata.name === name));
    });
    checkBindings();
  },
  60_000 + killCount * 20_000,
);

/** Replays the watch events. */
function checkBindings(): void {
  const present = new Map<string, LoadPod>();
  for (const { type, pod } of observed()) {
    const { uid, name } = pod.metadata;
    const earlier = present.get(uid)?.spec.nodeName;
    if (earlier) expect(pod.spec.nodeName, `pod ${name} moved`).toBe(earlier);
    if (type === 'DELETED') present.delete(uid);
    else present.set(uid, pod);
    const node = pod.spec.nodeName;
    if (!node) continue;
    const used = [...present.values()]
      .filter((each) => each.spec.nodeName === node)
      .reduce((sum, each) => sum + milliCpuOf(each), 0);
    expect(used, `node ${node} after ${type} of ${name}`).toBeLessThanOrEqual(nodeMilliCpu);
  }
  expect(boundUids().size).toBeGreaterThanOrEqual(killCount);
}
