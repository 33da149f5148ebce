/**
 * `kill -9` of each component, in a process of its own, while clients write: it is started again,
 * no acknowledged write is lost, and the running pods continue as the same processes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster, helloManifest } from './support/cluster.js';
import { type Driver, driverFor } from './support/driver.js';
import { componentProcesses, processesOfPod } from './support/pods.js';
import { eventually } from './support/wait.js';
import { Writer } from './support/writer.js';

interface PodList {
  items: {
    metadata: { name: string };
    status: { containerStatuses?: { ready: boolean; restartCount: number }[] };
  }[];
}

const components = ['apiserver', 'controller-manager', 'scheduler', 'node-agent', 'proxy'];

describe('kill -9 of each component under writes', () => {
  const cluster = new Cluster({ dialect: 'orch', extraArgs: ['--separate-processes'] });
  let ctl: Driver;
  let api: Api;

  beforeAll(async () => {
    await cluster.up();
    ctl = driverFor(cluster, 'orchctl');
    api = new Api(cluster);
    await ctl.must('apply', '-f', helloManifest);
    await ctl.must('rollout', 'status', 'deployment/hello', '--timeout=90s');
  });

  afterAll(async () => {
    await api?.close();
    await cluster.destroy();
  });

  async function helloPods(): Promise<PodList['items']> {
    const path = '/api/v1/namespaces/default/pods?labelSelector=app%3Dhello';
    return (await api.call<PodList>('GET', path)).body.items;
  }

  const isReady = (pod: PodList['items'][number]) =>
    !!pod.status.containerStatuses?.every((status) => status.ready);

  it.each(components)('%s is started again', async (component) => {
    const podNames = (await helloPods()).map((pod) => pod.metadata.name).sort();
    const processesBefore = podNames.map(processesOfPod);
    const writer = new Writer(api, `before-${component}`);
    await eventually('writes', () => writer.acknowledged.size > 20);

    const before = componentProcesses(component, cluster.dataDirectory);
    const victim = before[0]!;
    process.kill(victim, 'SIGKILL');
    await eventually(`${component} to be started again`, () => {
      const now = componentProcesses(component, cluster.dataDirectory);
      return now.length === before.length && !now.includes(victim);
    });
    const seen = writer.acknowledged.size;
    await eventually('further writes', () => writer.acknowledged.size > seen + 20);
    await writer.stop();
    expect(await writer.lost()).toEqual([]);

    expect(podNames.map(processesOfPod)).toEqual(processesBefore);
    const pods = await eventually('the same pods, ready', async () => {
      const found = await helloPods();
      return found.length === 3 && found.every(isReady) ? found : undefined;
    });
    expect(pods.map((pod) => pod.metadata.name).sort()).toEqual(podNames);
    expect(pods.map((pod) => pod.status.containerStatuses?.[0]?.restartCount)).toEqual([0, 0, 0]);

    // It works again: a change leads to a process and a new status.
    await ctl.must('scale', 'deployment/hello', '--replicas=4');
    await eventually('four ready', async () => (await helloPods()).filter(isReady).length === 4);
    await ctl.must('scale', 'deployment/hello', '--replicas=3');
    await eventually('three pods', async () => (await helloPods()).length === 3);
  });
});
