/** Objects that contradict each other cost a bounded number of writes, and harm no other object. */
import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { controllers } from './registry.js';

const hourMs = 3_600_000;

describe('controllers with objects that contradict each other', () => {
  let harness: ControllerHarness;
  const labels = { app: 'web' };
  const replicaSet = (name: string, replicas: number) => ({
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'app', image: 'app' }] },
      },
    },
  });
  const writeCount = () => harness.server.requests.filter(({ method }) => method !== 'GET').length;
  const owners = () =>
    harness.server.store
      .list(resources.pods, 'default')
      .map(({ metadata }) => metadata?.ownerReferences?.map(({ name }) => name).join('+') ?? '')
      .sort();
  /** Settles, and returns the writes of the hour after that. */
  const writesAtRest = async () => {
    await harness.settle();
    await harness.advance(60_000);
    const before = writeCount();
    await harness.advance(hourMs);
    return writeCount() - before;
  };

  beforeEach(async () => {
    const names = ['replicaset', 'disruption'] as const;
    harness = new ControllerHarness(names.map((name) => controllers[name]!));
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('replica sets with the same selector keep their own pods, at rest without writes', async () => {
    const sets = harness.client.resource(resources.replicaSets, 'default');
    await sets.create(replicaSet('a', 2));
    await sets.create(replicaSet('b', 3));
    expect(await writesAtRest()).toBe(0);
    expect(owners()).toEqual(['a', 'a', 'b', 'b', 'b']);
  });

  it('a pod with two owners is counted by its controller alone', async () => {
    const sets = harness.client.resource(resources.replicaSets, 'default');
    const a = await sets.create(replicaSet('a', 1));
    const b = await sets.create(replicaSet('b', 1));
    await harness.settle();
    const [name = ''] = harness.names(resources.pods);
    const pods = harness.client.resource(resources.pods, 'default');
    const ownerReferences = [a, b].map(({ metadata }, at) => ({
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', controller: at === 0 },
      ...{ name: metadata?.name ?? '', uid: metadata?.uid ?? '' },
    }));
    const pod = await pods.get(name);
    await pods.replace({ ...pod, metadata: { ...pod.metadata, ownerReferences } });
    expect(await writesAtRest()).toBe(0);
    expect(owners()).toContain('a+b');
    expect(owners().filter((one) => one.startsWith('b'))).toEqual(['b']);
  });

  it('a budget for all pods is computed, and costs no writes at rest', async () => {
    const sets = harness.client.resource(resources.replicaSets, 'default');
    await sets.create(replicaSet('a', 4));
    const budgets = harness.client.resource(resources.podDisruptionBudgets, 'default');
    await budgets.create({ metadata: { name: 'all' }, spec: { maxUnavailable: 1, selector: {} } });
    expect(await writesAtRest()).toBe(0);
    expect((await budgets.get('all')).status).toMatchObject({
      expectedPods: 4,
      desiredHealthy: 3,
      disruptionsAllowed: 0,
    });
  });
});
