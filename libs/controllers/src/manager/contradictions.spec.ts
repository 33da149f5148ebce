/** Objects that contradict each other cost a bounded number of writes, and harm no other object. */
import { type ApiObject, resources } from '@orch/client';
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

  const overlapWith = (names: string) =>
    `the selector overlaps with that of ${names}: each keeps its own pods, but adopts pods that another releases; use different labels`;
  const overlapEvents = (kind = 'ReplicaSet') =>
    harness.server
      .list(resources.events)
      .filter((event) => event.reason === 'SelectorOverlap' && event.involvedObject.kind === kind)
      .map(({ involvedObject, message }) => [involvedObject.name, message]);

  beforeEach(async () => {
    const names = [
      ...['deployment', 'replicaset', 'replicationcontroller', 'statefulset', 'daemonset'],
      ...['job', 'disruption'],
    ];
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
    expect(overlapEvents()).toContainEqual(['b', overlapWith('a')]);
  });

  it('deployments with the same selector keep their own pods, through a rollout too', async () => {
    const deployments = harness.client.resource(resources.deployments, 'default');
    await deployments.create(replicaSet('a', 2));
    await deployments.create(replicaSet('b', 3));
    expect(await writesAtRest()).toBe(0);
    expect(overlapEvents('Deployment')).toEqual([['b', overlapWith('a')]]);
    const spec = { template: { spec: { containers: [{ name: 'app', image: 'app:2' }] } } };
    await deployments.patch('a', { spec }, { type: 'merge' });
    expect(await writesAtRest()).toBe(0);
    const replicasOf = (name: string) =>
      harness.server
        .list(resources.replicaSets, 'default')
        .filter(({ metadata }) => metadata?.ownerReferences?.[0]?.name === name)
        .map((set) => [set.spec?.replicas, set.spec?.template?.spec?.containers?.[0]?.image]);
    expect(replicasOf('a')).toEqual(
      expect.arrayContaining([expect.arrayContaining([expect.any(Number), 'app:2'])]),
    );
    expect(replicasOf('b')).toEqual([[3, 'app']]);
    expect(owners().filter((owner) => owner.startsWith('b-'))).toHaveLength(3);
  });

  it.each([
    ['StatefulSet', resources.statefulSets],
    ['DaemonSet', resources.daemonSets],
    ['ReplicationController', resources.replicationControllers],
    ['Job', resources.jobs],
  ])('reports overlapping selectors of a %s once, until they change', async (kind, resource) => {
    const objects = harness.client.resource<ApiObject>(resource, 'default');
    const create = (name: string, own: Readonly<Record<string, string>>) => {
      const { spec } = replicaSet(name, 0);
      const template = { ...spec.template, metadata: { labels: { ...labels, ...own } } };
      const selector = kind === 'ReplicationController' ? labels : spec.selector;
      const changed = { ...spec, template, selector, manualSelector: true, parallelism: 0 };
      return objects.create({ metadata: { name }, spec: changed } as ApiObject);
    };
    await create('a', { tier: 'front' });
    await create('b', {});
    await harness.settle();
    expect(overlapEvents(kind)).toEqual([['b', overlapWith('a')]]);
    for (let index = 0; index < 7; index++) await create(`c${index}`, {});
    await harness.settle();
    const last = overlapEvents(kind).at(-1);
    expect(last).toEqual(['c6', overlapWith('a, b, c0, c1, c2 and 3 more')]);
    const count = overlapEvents(kind).length;
    expect(await writesAtRest()).toBe(0);
    await objects.patch('c6', { spec: { parallelism: 1 } }, { type: 'merge' });
    await harness.settle();
    expect(overlapEvents(kind)).toHaveLength(count);
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
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
  });
});

describe('controllers of workloads when the clock jumps', () => {
  const dayMs = 24 * hourMs;
  const labels = { app: 'mixed' };
  const template = {
    metadata: { labels },
    spec: { restartPolicy: 'Always', containers: [{ name: 'app', image: 'app' }] },
  };
  const selector = { matchLabels: labels };
  const names = [
    ...['deployment', 'replicaset', 'statefulset', 'job', 'cronjob'],
    ...['disruption', 'ttl-after-finished', 'endpoint', 'endpointslice'],
  ];
  let harness: ControllerHarness;

  beforeEach(async () => {
    harness = new ControllerHarness(names.map((name) => controllers[name]!));
    const seed: typeof harness.server.seed = (resource, object) =>
      harness.server.seed(resource, object);
    const named = (name: string) => ({ name, namespace: 'default', generation: 1 });
    const job = {
      metadata: { labels: { job: 'job' } },
      spec: { ...template.spec, restartPolicy: 'Never' },
    };
    seed(resources.deployments, {
      metadata: named('deployment'),
      spec: { replicas: 3, selector, template },
    });
    seed(resources.statefulSets, {
      metadata: named('stateful'),
      spec: { replicas: 2, selector, template, serviceName: 'web' },
    });
    seed(resources.jobs, {
      metadata: named('job'),
      spec: {
        ...{ parallelism: 2, completions: 2, backoffLimit: 6 },
        ...{ selector: { matchLabels: { job: 'job' } }, template: job },
      },
    });
    seed(resources.cronJobs, {
      metadata: named('cron'),
      spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: job } } },
    });
    seed(resources.podDisruptionBudgets, {
      metadata: named('budget'),
      spec: { maxUnavailable: 1, selector: {} },
    });
    await harness.start();
    await harness.advance(60_000);
  });
  afterEach(() => harness.stop());

  it.each([
    ['ahead', dayMs],
    ['back', -dayMs],
  ])('writes at most 20 times in the minute after a day %s, then nothing', async (_, jumpMs) => {
    const count = () => harness.server.requests.filter(({ method }) => method !== 'GET').length;
    const pods = harness.names(resources.pods);
    const before = count();
    harness.clock.jump(jumpMs);
    await harness.advance(60_000);
    expect(count() - before).toBeLessThanOrEqual(20);
    const settled = count();
    await harness.advance(120_000);
    expect(count()).toBe(settled);
    expect(harness.names(resources.pods)).toEqual(pods);
  });
});
