/**
 * The main use: apply a Deployment and a Service, reach it, scale it, kill a process, roll out a
 * new version under traffic, delete it, stop and start the cluster. Once with our own command line,
 * once in the other dialect with stock kubectl.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster, type DialectName, helloManifest } from './support/cluster.js';
import { type Driver, driverFor } from './support/driver.js';
import { processesOfPod } from './support/pods.js';
import { fetchOnce, Traffic } from './support/traffic.js';
import { eventually } from './support/wait.js';

interface PodView {
  metadata: { name: string; deletionTimestamp?: string };
  status: { phase: string; containerStatuses?: { ready: boolean; restartCount: number }[] };
}

const settings: { dialect: DialectName; tool: 'orchctl' | 'kubectl' }[] = [
  { dialect: 'orch', tool: 'orchctl' },
  { dialect: 'kubernetes', tool: 'kubectl' },
];

describe.each(settings)('hello in the $dialect dialect with $tool', ({ dialect, tool }) => {
  const cluster = new Cluster({ dialect });
  let ctl: Driver;

  beforeAll(async () => {
    const printed = await cluster.up();
    expect(printed).toContain(cluster.url);
    expect(printed).toContain(cluster.kubeconfig);
    ctl = driverFor(cluster, tool);
  });

  afterAll(() => cluster.destroy());

  async function pods(): Promise<PodView[]> {
    const { items } = JSON.parse(await ctl.must('get', 'pods', '-l', 'app=hello', '-o', 'json'));
    return items;
  }

  const isReady = (pod: PodView) =>
    !pod.metadata.deletionTimestamp && !!pod.status.containerStatuses?.every((c) => c.ready);

  function readyPods(count: number): Promise<PodView[]> {
    return eventually(`${count} ready pods and no other`, async () => {
      const found = await pods();
      return found.length === count && found.every(isReady) ? found : undefined;
    });
  }

  async function serviceUrl(): Promise<string> {
    const { spec } = JSON.parse(await ctl.must('get', 'service', 'hello', '-o', 'json'));
    return `http://${spec.clusterIP}:${spec.ports[0].port}/`;
  }

  /** The names of the pods that responded to requests to the service. */
  async function respondingPods(url: string, names: string[]): Promise<Set<string>> {
    const seen = new Set<string>();
    for (let i = 0; i < names.length * 4; i++) {
      const { body } = await fetchOnce(url);
      for (const name of names) if (body.includes(name)) seen.add(name);
    }
    return seen;
  }

  it('starts three replicas, each of which receives requests', async () => {
    await ctl.must('apply', '-f', helloManifest);
    await ctl.must('rollout', 'status', 'deployment/hello', '--timeout=90s');
    const names = (await readyPods(3)).map((pod) => pod.metadata.name);
    const url = await serviceUrl();
    await eventually(
      'responses of all three',
      async () => (await respondingPods(url, names)).size === 3,
    );
    expect(await ctl.must('get', 'pods')).toMatch(/NAME +READY +STATUS +RESTARTS +AGE/);
    expect(await ctl.must('get', 'deployment', 'hello')).toMatch(/hello +3\/3 +3 +3/);
    expect(await ctl.must('describe', 'pod', names[0]!)).toContain('Started');
    await ctl.must('logs', names[0]!);
  });

  it('scales up and down', async () => {
    await ctl.must('scale', 'deployment/hello', '--replicas=5');
    await readyPods(5);
    await ctl.must('scale', 'deployment/hello', '--replicas=3');
    await readyPods(3);
  });

  it('restarts a killed process in its pod', async () => {
    const [victim] = await readyPods(3);
    const name = victim!.metadata.name;
    const pids = processesOfPod(name);
    expect(pids.length).toBeGreaterThan(0);
    process.kill(pids.at(-1)!, 'SIGKILL');
    await eventually('one restart and ready again', async () => {
      const pod = (await pods()).find((candidate) => candidate.metadata.name === name);
      const status = pod?.status.containerStatuses?.[0];
      return status && status.restartCount >= 1 && status.ready;
    });
  });

  it('rolls out a new version without a failed request', async () => {
    await readyPods(3);
    const url = await serviceUrl();
    const traffic = [new Traffic(url), new Traffic(url)];
    const manifest = readFileSync(helloManifest, 'utf8');
    const changed = manifest.replace(/(name: VERSION\s+value: )['"]?1['"]?/, "$1'2'");
    expect(changed).not.toBe(manifest);
    await ctl.pipe(changed, 'apply', '-f', '-');
    await ctl.must('rollout', 'status', 'deployment/hello', '--timeout=120s');
    await readyPods(3);
    for (const client of traffic) await client.stop();
    expect(traffic.flatMap((client) => client.failures)).toEqual([]);
    expect(traffic.reduce((sum, client) => sum + client.bodies.length, 0)).toBeGreaterThan(50);
    expect(await ctl.must('rollout', 'history', 'deployment/hello')).toMatch(/2/);
  });

  it('has all objects after down and up, and the pods run', async () => {
    const before = await ctl.must('get', 'deployment,service', '-o', 'json');
    await cluster.down();
    await cluster.up();
    const uids = (text: string) =>
      JSON.parse(text).items.map((item: { metadata: { uid: string } }) => item.metadata.uid);
    expect(uids(await ctl.must('get', 'deployment,service', '-o', 'json'))).toEqual(uids(before));
    const names = (await readyPods(3)).map((pod) => pod.metadata.name);
    const url = await serviceUrl();
    await eventually(
      'responses of all three',
      async () => (await respondingPods(url, names)).size === 3,
    );
  });

  it('deletes all of it and leaves no process', async () => {
    const names = (await readyPods(3)).map((pod) => pod.metadata.name);
    await ctl.must('delete', '-f', helloManifest);
    await ctl.must('wait', '--for=delete', 'pod', '-l', 'app=hello', '--timeout=60s');
    await eventually('no pods', async () => (await pods()).length === 0);
    await eventually('no processes', () => names.flatMap(processesOfPod).length === 0);
    expect((await ctl.try('get', 'deployment', 'hello')).stderr).toContain('NotFound');
  });
});
