import { resources } from '@orch/client';
import { createLogger, dialect, HealthChecks, Metrics, parseOptions } from '@orch/component';
import type { Pod, PodSpec } from '@orch/types/core/v1';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { NodeAgentOptions } from '../node-agent-options.js';
import { HollowNodes } from './hollow-nodes.js';
import { HollowOptions } from './hollow-options.js';

const program = { program: 'test', description: '', version: '' };
let clock: TestClock;
let server: MemoryApiServer;
let nodes: HollowNodes;

function startNodes(): void {
  nodes = new HollowNodes({
    agent: parseOptions(NodeAgentOptions, ['--node-name=h'], program),
    hollow: parseOptions(
      HollowOptions,
      [
        '--hollow=3',
        '--hollow-start-delay=2s',
        '--hollow-ready-delay=3s',
        '--hollow-termination-delay=4s',
        '--hollow-run-duration=20s',
      ],
      program,
    ),
    client: new MemoryApiClient(server),
    health: new HealthChecks(),
    metrics: new Metrics(),
    clock,
    logger: createLogger({ component: 'test', format: 'text', level: 'fatal' }),
    random: () => 0.5,
  });
  nodes.start();
}

async function advance(seconds: number): Promise<void> {
  for (let step = 0; step < seconds * 10; step++) {
    await clock.advance(100);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

function createPod(name: string, spec: Partial<PodSpec> = {}): void {
  server.seed<Pod>(resources.pods, {
    metadata: { name, namespace: 'default' },
    spec: { nodeName: 'h-1', containers: [{ name: 'main', image: 'any' }], ...spec },
    status: { phase: 'Pending' },
  });
}

const podNow = (name: string) => server.get(resources.pods, `default/${name}`);
const phase = (name: string) => podNow(name)?.status?.phase;
const condition = (name: string, type: string) =>
  podNow(name)?.status?.conditions?.find((found) => found.type === type)?.status;
const mainState = (name: string) => podNow(name)?.status?.containerStatuses?.[0]?.state;
const podWrites = () =>
  server.requests.filter(({ method, resource }) => method !== 'GET' && resource === resources.pods);
const deletePod = (name: string, gracePeriodSeconds: number) =>
  new MemoryApiClient(server).resource(resources.pods, 'default').delete(name, {
    gracePeriodSeconds,
  });

beforeEach(async () => {
  clock = new TestClock();
  server = new MemoryApiServer({ clock });
  startNodes();
  await advance(11);
});
afterEach(() => nodes.stop());

it('registers ready nodes with distinct ranges and leases', () => {
  const registered = server.list(resources.nodes);
  expect(registered.map(({ metadata }) => metadata?.name).sort()).toEqual(['h-0', 'h-1', 'h-2']);
  expect(new Set(registered.map(({ spec }) => spec?.podCIDR)).size).toBe(3);
  for (const { status } of registered) {
    expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    expect(status?.capacity).toMatchObject({ cpu: '32', pods: '110' });
  }
  expect(server.list(resources.leases, dialect().nodeLeaseNamespace)).toHaveLength(3);
});

it('runs a pod after the start delay, ready when its probe succeeds', async () => {
  createPod('web', { containers: [{ name: 'main', image: 'any', readinessProbe: {} }] });
  await advance(1);
  expect(mainState('web')?.waiting?.reason).toBe('ContainerCreating');
  await advance(1.5);
  expect([phase('web'), condition('web', 'Ready')]).toEqual(['Running', 'False']);
  await advance(3);
  expect(condition('web', 'Ready')).toBe('True');
  expect(podNow('web')?.status?.podIP).toMatch(/^100\.64\.1\./);
});

it('gives two pods different addresses and the host network that of the node', async () => {
  createPod('one');
  createPod('two');
  createPod('host', { hostNetwork: true });
  await advance(3);
  const [one, two, host] = ['one', 'two', 'host'].map((name) => podNow(name)?.status);
  expect(one?.podIP).not.toBe(two?.podIP);
  expect(host?.podIP).toBe(host?.hostIP);
});

it('completes pods of jobs and keeps others running', async () => {
  createPod('job', { restartPolicy: 'Never' });
  createPod('web');
  await advance(24);
  expect([phase('job'), phase('web')]).toEqual(['Succeeded', 'Running']);
  expect(mainState('job')?.terminated?.exitCode).toBe(0);
});

it('removes a deleted pod after its termination delay', async () => {
  createPod('web');
  await advance(3);
  await deletePod('web', 30);
  await advance(3);
  expect(phase('web')).toBe('Running');
  await advance(2);
  expect(podNow('web')).toBeUndefined();
});

it('removes a pod at the end of a grace period that is shorter than the delay', async () => {
  createPod('web');
  await advance(3);
  await deletePod('web', 1);
  await advance(2);
  expect(podNow('web')).toBeUndefined();
});

it('removes a pod that was deleted before it started', async () => {
  createPod('web');
  await advance(1);
  await deletePod('web', 30);
  await advance(0.5);
  expect(podNow('web')).toBeUndefined();
});

it('does not touch pods of other nodes', async () => {
  createPod('other', { nodeName: 'elsewhere' });
  await advance(5);
  expect(phase('other')).toBe('Pending');
  expect(podWrites()).toEqual([]);
});

it('continues with nodes and pods of an earlier process', async () => {
  createPod('web');
  createPod('job', { restartPolicy: 'Never' });
  await advance(5);
  await nodes.stop();
  const before = podNow('web');
  const writeCount = podWrites().length;
  startNodes();
  await advance(5);
  expect(podNow('web')).toEqual(before);
  expect(podWrites()).toHaveLength(writeCount);
  createPod('next');
  await advance(14);
  expect(phase('job')).toBe('Succeeded');
  expect(podNow('next')?.status?.podIP).not.toBe(before?.status?.podIP);
});

it('writes a status again after a failed write', async () => {
  createPod('web');
  server.interceptNext('PATCH', resources.pods, () => {
    throw new Error('the server is unavailable');
  });
  await advance(5);
  expect(phase('web')).toBe('Running');
});

it('writes nothing for pods at rest', async () => {
  createPod('web');
  await advance(5);
  const writeCount = podWrites().length;
  await advance(30);
  expect(podWrites()).toHaveLength(writeCount);
});
