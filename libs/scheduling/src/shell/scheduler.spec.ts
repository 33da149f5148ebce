import { EventRecorder, InformerFactory, resources } from '@orch/client';
import { type Logger, Metrics, systemClock } from '@orch/component';
import type { Binding, PersistentVolume, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import type { ExtenderOptions } from '../configuration/extender-configuration.js';
import { node, type PodFields, pod, profileOf } from '../testing/builders.js';
import { Scheduler } from './scheduler.js';
import { SchedulerMetrics } from './scheduler-metrics.js';

const silent = () => undefined;
const logger = {
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
  child: () => logger,
} as unknown as Logger;

/** Binds pods, as the API server does. */
class BindingClient extends MemoryApiClient {
  bindingCount = 0;

  constructor(private readonly memory: MemoryApiServer) {
    super(memory);
  }

  override async request(...[method, path, options]: Parameters<MemoryApiClient['request']>) {
    const [, namespace, name] = /\/namespaces\/([^/]+)\/pods\/([^/]+)\/binding$/.exec(path) ?? [];
    if (method !== 'POST' || !name) return super.request(method, path, options);
    this.bindingCount++;
    const { target } = (options?.body ?? {}) as Binding;
    this.memory.change(resources.pods, `${namespace}/${name}`, (object) => ({
      ...object,
      spec: { ...object.spec!, nodeName: target?.name },
    }));
    return super.request('GET', path.replace(/\/binding$/, ''));
  }
}

let server: MemoryApiServer;
let client: BindingClient;
let informers: InformerFactory;
let recorder: EventRecorder;
let scheduler: Scheduler;

beforeEach(() => {
  server = new MemoryApiServer();
  client = new BindingClient(server);
  informers = new InformerFactory({ client, logger });
  recorder = new EventRecorder({ client, component: 'default-scheduler', logger });
});

afterEach(async () => {
  await scheduler.stop();
  await recorder.stop();
  await informers.stop();
});

async function start(extenders: readonly ExtenderOptions[] = []) {
  scheduler = new Scheduler(
    {
      ...{ client, informers, logger, clock: systemClock, random: Math.random },
      recorderOf: () => recorder,
      metrics: new SchedulerMetrics(new Metrics()),
      prefersNominatedNode: false,
    },
    {
      profiles: [{ ...profileOf(), volumeBindTimeoutMs: 10_000 }],
      extenders,
      percentageOfNodesToScore: 0,
      ...{ backoffInitialMs: 1, backoffMaxMs: 2 },
      process: { election: {} },
      warnings: [],
    },
  );
  scheduler.follow(() => true);
  informers.start();
  await informers.whenSynced(10_000);
  scheduler.start();
}

const create = (fields: PodFields) =>
  server.seed(resources.pods, {
    ...pod(fields),
    spec: { ...pod(fields).spec!, schedulerName: 'default-scheduler' },
  });
const stored = (name: string): Pod => server.get(resources.pods, `default/${name}`)!;
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 10_000, interval: 20 });
const isOn = (name: string, on: string) =>
  eventually(() => expect(stored(name).spec?.nodeName).toBe(on));
const failureOf = (name: string) =>
  stored(name).status?.conditions?.find(({ type }) => type === 'PodScheduled');

describe('the scheduler', () => {
  it('binds a pod when a node that fits appears, and reports why it waits until then', async () => {
    server.seed(resources.nodes, node('small', { allocatable: { cpu: '1' } }));
    await start();
    create({ name: 'a', requests: { cpu: '2' } });
    await eventually(() =>
      expect(failureOf('a')).toMatchObject({
        status: 'False',
        reason: 'Unschedulable',
        message: '0/1 nodes are available: 1 Insufficient cpu.',
      }),
    );
    server.seed(resources.nodes, node('large'));
    await isOn('a', 'large');
    expect(client.bindingCount).toBe(1);
  });

  it('evicts a pod of lower priority and takes its place when it has ended', async () => {
    server.seed(resources.nodes, node('n'));
    server.seed(resources.pods, {
      ...pod({ name: 'low', requests: { cpu: '4' }, spec: { nodeName: 'n' } }),
    });
    await start();
    create({ name: 'urgent', requests: { cpu: '2' }, spec: { priority: 10 } });
    await eventually(() => expect(stored('urgent').status?.nominatedNodeName).toBe('n'));
    expect(failureOf('urgent')?.message).toBe('0/1 nodes are available: 1 Insufficient cpu.');
    expect(stored('low').metadata?.deletionTimestamp).toBeDefined();
    expect(client.bindingCount).toBe(0);
    await client.resource(resources.pods, 'default').delete('low', { gracePeriodSeconds: 0 });
    await isOn('urgent', 'n');
    expect(scheduler.nominations.size).toBe(0);
  });

  it('binds a pod after the volume controller has bound its claim', async () => {
    server.seed(resources.nodes, node('n'));
    server.seed(resources.storageClasses, {
      metadata: { name: 'late' },
      provisioner: 'orch.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    const claim: PersistentVolumeClaim = {
      metadata: { namespace: 'default', name: 'c' },
      spec: { storageClassName: 'late', resources: { requests: { storage: '1Gi' } } },
    };
    const volume: PersistentVolume = {
      metadata: { name: 'v' },
      spec: { capacity: { storage: '2Gi' }, storageClassName: 'late' },
      status: { phase: 'Available' },
    };
    server.seed(resources.persistentVolumeClaims, claim);
    server.seed(resources.persistentVolumes, volume);
    await start();
    const volumes = [{ name: 'c', persistentVolumeClaim: { claimName: 'c' } }];
    create({ name: 'a', spec: { volumes } });
    await eventually(() =>
      expect(server.get(resources.persistentVolumes, 'v')?.spec?.claimRef?.name).toBe('c'),
    );
    expect(client.bindingCount).toBe(0);
    server.change(resources.persistentVolumeClaims, 'default/c', (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'pv.orch.io/bind-completed': 'yes' } },
      spec: { ...object.spec, volumeName: 'v' },
    }));
    await isOn('a', 'n');
  });

  it('reports an extender that cannot be reached as an error of the scheduler', async () => {
    server.seed(resources.nodes, node('n'));
    await start([
      {
        urlPrefix: 'http://127.0.0.1:9',
        filterVerb: 'filter',
        ...{ weight: 1, timeoutMs: 1_000, nodeCacheCapable: true, ignorable: false },
        ...{ managedResources: [], ignoredResources: [] },
      },
    ]);
    create({ name: 'a' });
    await eventually(() => expect(failureOf('a')).toMatchObject({ reason: 'SchedulerError' }));
    expect(failureOf('a')?.message).toBe(
      'Post "http://127.0.0.1:9/filter": dial tcp 127.0.0.1:9: connect: connection refused',
    );
    expect(client.bindingCount).toBe(0);
  });

  it('selects another node when the chosen one vanishes before the binding', async () => {
    server.seed(resources.nodes, node('n'));
    server.seed(resources.storageClasses, {
      metadata: { name: 'late' },
      provisioner: 'orch.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    server.seed(resources.persistentVolumeClaims, {
      metadata: { namespace: 'default', name: 'c' },
      spec: { storageClassName: 'late', resources: { requests: { storage: '1Gi' } } },
    });
    server.seed(resources.persistentVolumes, {
      metadata: { name: 'v' },
      spec: { capacity: { storage: '2Gi' }, storageClassName: 'late' },
      status: { phase: 'Available' },
    });
    await start();
    const volumes = [{ name: 'c', persistentVolumeClaim: { claimName: 'c' } }];
    create({ name: 'a', spec: { volumes } });
    await eventually(() => expect(scheduler.cache.nodeOf('default/a')).toBe('n'));
    await client.resource(resources.nodes).delete('n');
    server.seed(resources.nodes, node('m'));
    await eventually(() => expect(scheduler.cache.nodeOf('default/a')).toBe('m'));
    expect(client.bindingCount).toBe(0);
    server.change(resources.persistentVolumeClaims, 'default/c', (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'pv.orch.io/bind-completed': 'yes' } },
      spec: { ...object.spec, volumeName: 'v' },
    }));
    await isOn('a', 'm');
    expect(client.bindingCount).toBe(1);
  });

  it('retries a pod that is changed while it waits', async () => {
    server.seed(resources.nodes, node('n', { taints: [{ key: 'k', effect: 'NoSchedule' }] }));
    await start();
    create({ name: 'a' });
    await eventually(() => expect(failureOf('a')).toBeDefined());
    server.change(resources.pods, 'default/a', (object) => ({
      ...object,
      spec: { ...object.spec!, tolerations: [{ operator: 'Exists' }] },
    }));
    await isOn('a', 'n');
  });

  it('explains what a pending pod waits for, and the decision about a bound one', async () => {
    const nodeOf = (name: string, cpu: string) => node(name, { allocatable: { cpu } });
    server.seed(resources.nodes, nodeOf('small', '1'));
    server.seed(resources.nodes, nodeOf('large', '4'));
    server.seed(resources.nodes, nodeOf('larger', '8'));
    await start();
    create({ name: 'a', requests: { cpu: '2' } });
    create({ name: 'b', requests: { cpu: '9' } });
    await eventually(() => expect(failureOf('b')).toBeDefined());
    await isOn('a', 'larger');
    expect(scheduler.explain('default/a')).toMatchObject({
      ...{ state: 'bound', node: 'larger', nodeCount: 3, notes: [] },
      weights: { NodeResourcesLeastAllocated: 1 },
      nodes: [
        { name: 'larger', scores: { NodeResourcesLeastAllocated: 86 } },
        { name: 'large', scores: { NodeResourcesLeastAllocated: 73 } },
        {
          name: 'small',
          refusals: [{ plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'] }],
        },
      ],
    });
    expect(scheduler.explain('default/b')).toMatchObject({
      state: 'pending',
      queue: expect.stringMatching(/^(unschedulable|backing off) after \d+ attempts?/),
      changes: ['3 nodes need 3 to 8 more cpu'],
    });
    expect(scheduler.explain('default/none')).toBe('unknown');
    await scheduler.stop();
    expect(scheduler.explain('default/a')).toBe('not leading');
  });

  it('explains that the decision about a pod is not recorded', async () => {
    server.seed(resources.nodes, node('n'));
    const spec = { nodeName: 'n', schedulerName: 'default-scheduler' };
    server.seed(resources.pods, pod({ name: 'earlier', spec }));
    await start();
    expect(scheduler.explain('default/earlier')).toMatchObject({
      ...{ state: 'bound', node: 'n', nodes: [] },
      notes: [expect.stringContaining('is not recorded')],
    });
  });

  it('does not bind a pod that was deleted while its volumes were bound', async () => {
    server.seed(resources.nodes, node('n'));
    server.seed(resources.storageClasses, {
      metadata: { name: 'late' },
      provisioner: 'disk.example.com',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    server.seed(resources.persistentVolumeClaims, {
      metadata: { namespace: 'default', name: 'c' },
      spec: { storageClassName: 'late', resources: { requests: { storage: '1Gi' } } },
    });
    await start();
    const volumes = [{ name: 'c', persistentVolumeClaim: { claimName: 'c' } }];
    create({ name: 'a', spec: { volumes } });
    await eventually(() =>
      expect(
        server.get(resources.persistentVolumeClaims, 'default/c')?.metadata?.annotations,
      ).toEqual({ 'volume.orch.io/selected-node': 'n' }),
    );
    expect(scheduler.cache.assumedPodCount).toBe(1);
    await client.resource(resources.pods, 'default').delete('a', { gracePeriodSeconds: 0 });
    await eventually(() => expect(scheduler.cache.assumedPodCount).toBe(0));
    expect(client.bindingCount).toBe(0);
  });
});
