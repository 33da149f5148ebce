/** `orchctl explain-scheduling` against the scheduler that leads, on nodes without agents. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stablePort } from '../chaos/support/ports.js';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { eventually } from './support/wait.js';

const podPath = '/api/v1/namespaces/default/pods';
const leasePath = '/apis/coordination.orch.io/v1/namespaces/orch-system/leases/orch-scheduler';

let cluster: Cluster;
let api: Api;

let insecurePort: number;

beforeAll(async () => {
  insecurePort = await stablePort();
  cluster = new Cluster({
    dialect: 'orch',
    replicas: 1,
    components: 'apiserver,scheduler',
    extraArgs: [
      '--component-arg=apiserver=--disable-admission-plugins=ServiceAccount',
      `--component-arg=scheduler=--port=${insecurePort}`,
      '--component-arg=scheduler=--address=127.0.0.1',
    ],
  });
  await cluster.up();
  api = new Api(cluster);
  for (const [name, cpu] of [
    ['small', '1'],
    ['large', '3'],
  ]) {
    const capacity = { cpu, memory: '8Gi', pods: '10' };
    await create('/api/v1/nodes', {
      metadata: { name },
      status: { capacity, allocatable: capacity },
    });
  }
});

afterAll(async () => {
  await api?.close();
  await cluster?.destroy();
});

async function create(path: string, body: object): Promise<void> {
  const { status } = await api.call('POST', path, body);
  expect(status).toBe(201);
}

async function createPod(name: string, cpu: string, priorityClassName?: string): Promise<void> {
  const resources = { requests: { cpu } };
  await create(podPath, {
    metadata: { name },
    spec: {
      containers: [{ name: 'main', image: 'app', resources }],
      tolerations: [{ operator: 'Exists' }],
      priorityClassName,
    },
  });
}

it('shows what would have to change for a pending pod', async () => {
  await createPod('big', '4');
  const { stdout } = await eventually('the scheduler to have tried the pod', async () => {
    const outcome = await cluster.orchctl(['explain-scheduling', 'big']);
    return outcome.stdout.includes('attempt') && outcome;
  });
  expect(stdout).toContain('What would have to change:\n  2 nodes need 1 to 3 more cpu\n');
  expect(stdout).toMatch(/large +refused +NodeResourcesFit: Insufficient cpu \(needs 1 more cpu\)/);
});

it('shows the scores of the decision about a bound pod', async () => {
  await createPod('fitting', '500m');
  await eventually('the pod to be bound', async () => {
    const { body } = await api.call<{ spec: { nodeName?: string } }>('GET', `${podPath}/fitting`);
    return body.spec.nodeName;
  });
  const { stdout } = await cluster.orchctl(['explain-scheduling', 'fitting', '-o', 'json']);
  const explanation = JSON.parse(stdout);
  expect(explanation).toMatchObject({ state: 'bound', node: 'large', nodeCount: 2 });
  const [first, second] = explanation.nodes;
  expect([first.name, second.name]).toEqual(['large', 'small']);
  expect(first.total).toBeGreaterThan(second.total);
  expect(first.scores.NodeResourcesLeastAllocated).toBeGreaterThan(
    second.scores.NodeResourcesLeastAllocated,
  );
});

it('shows the node on which a pending pod evicts others', async () => {
  await createPod('filler', '2');
  await eventually('the pod to be bound', async () => {
    const { body } = await api.call<{ spec: { nodeName?: string } }>('GET', `${podPath}/filler`);
    return body.spec.nodeName;
  });
  await create('/apis/scheduling.orch.io/v1/priorityclasses', {
    metadata: { name: 'urgent' },
    value: 1_000,
  });
  await createPod('urgent', '3', 'urgent');
  // Without node agents the victims end for the whole grace period.
  const { stdout } = await eventually('the scheduler to have evicted the pods', async () => {
    const outcome = await cluster.orchctl(['explain-scheduling', 'urgent']);
    return outcome.stdout.includes('Nominated') && outcome;
  });
  expect(stdout).toMatch(/^State: +pending, /m);
  expect(stdout).toMatch(/^Nominated: +large, where pods are evicted for it$/m);
  expect(stdout).toContain('What would have to change:\n  2 nodes need 2 to 2500m more cpu\n');
});

it('fails with a clear error for other pods, other users and other ports', async () => {
  const failure = async (...args: string[]) => {
    const { code, stderr } = await cluster.orchctl(['explain-scheduling', ...args]);
    expect(code).not.toBe(0);
    return stderr;
  };
  expect(await failure('none')).toContain('no pod default/none of this scheduler runs or waits');
  expect(await failure('big', '--as', 'bob')).toContain('does not support impersonation');
  expect(await failure('big', '--scheduler-url', 'https://localhost:1')).toContain(
    'cannot connect to the scheduler at https://localhost:1',
  );
  const { body } = await api.call<{ metadata: { annotations: Record<string, string> } }>(
    'GET',
    leasePath,
  );
  const url = body.metadata.annotations['leader.orch.io/serving-url'];
  const ca = readFileSync(join(cluster.dataDirectory, 'ca.crt'));
  const dispatcher = new Agent({ connect: { ca } });
  const path = '/debug/explain-scheduling?pod=default/big';
  const { statusCode } = await request(`${url}${path}`, { dispatcher });
  expect(statusCode).toBe(403);
  await dispatcher.close();
});

it('serves health and metrics, and nothing else, on the port without authorization', async () => {
  const statusOf = async (path: string) =>
    (await request(`http://127.0.0.1:${insecurePort}${path}`)).statusCode;
  expect(await statusOf('/healthz')).toBe(200);
  expect(await statusOf('/metrics')).toBe(200);
  for (const path of [
    '/configz',
    '/debug/explain-scheduling?pod=default/big',
    '/debug/pprof/heap',
  ]) {
    expect(await statusOf(path)).toBe(404);
  }
});
