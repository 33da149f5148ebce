import { resources } from '@orch/client';
import { createLogger } from '@orch/component';
import type { Node, NodeStatus } from '@orch/types/core/v1';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { NodeRegistration } from './node-registration.js';

const dayMs = 86_400_000;
const status: NodeStatus = { conditions: [{ type: 'Ready', status: 'True' }] };

let clock: TestClock;
let server: MemoryApiServer;
let registration: NodeRegistration;
let started: NodeRegistration[];
const reports = () =>
  server.requests.filter(
    ({ method, subresource }) => method === 'PATCH' && subresource === 'status',
  ).length;
const readiness = () => server.get(resources.nodes, 'n')?.status?.conditions?.[0]?.status;
const advance = async (seconds: number) => {
  for (let second = 0; second < seconds; second++) {
    await clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

const registrationOf = (nodeName: string) => {
  const created = new NodeRegistration({
    client: new MemoryApiClient(server),
    clock,
    logger: createLogger({ component: 'test', format: 'text', level: 'fatal' }),
    nodeName,
    labels: {},
    annotations: {},
    podCidr: '10.0.0.0/24',
    statusPeriodMs: 10_000,
    leaseDurationSeconds: 40,
    status: () => Promise.resolve(status),
  });
  started.push(created);
  return created;
};

beforeEach(async () => {
  clock = new TestClock();
  server = new MemoryApiServer({ clock });
  started = [];
  registration = registrationOf('n');
  registration.start();
  await advance(1);
});
afterEach(() => {
  for (const each of started) each.stop();
});

/** The seconds, of so many, in which leases were renewed, with the number of renewals. */
async function renewalsIn(seconds: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  const renewals = () =>
    server.requests.filter(
      ({ method, resource }) => method === 'PUT' && resource === resources.leases,
    ).length;
  for (let second = 1; second <= seconds; second++) {
    const before = renewals();
    await advance(1);
    if (renewals() > before) counts[clock.monotonicMs() / 1_000] = renewals() - before;
  }
  return counts;
}

it('renews the leases of all nodes of a process at the same moments', async () => {
  await advance(2);
  registrationOf('m').start();
  expect(await renewalsIn(37)).toEqual({ 10: 2, 20: 2, 30: 2, 40: 2 });
});

it('renews the lease with a phase away from the others', async () => {
  await advance(2);
  registrationOf('m').start(clock.monotonicMs());
  expect(await renewalsIn(27)).toEqual({ 10: 1, 13: 1, 20: 1, 23: 1, 30: 1 });
});

it('reports an unchanged status every five minutes, also when the clock jumps', async () => {
  for (const jumpMs of [0, -dayMs, 2 * dayMs]) {
    clock.jump(jumpMs);
    const before = reports();
    await advance(600);
    expect(reports() - before).toBe(2);
  }
});

it('corrects a status that the controller manager marked as unknown', async () => {
  expect(readiness()).toBe('True');
  server.change<Node>(resources.nodes, 'n', (node) => ({
    ...node,
    status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
  }));
  await advance(11);
  expect(readiness()).toBe('True');
});

it('registers again after its node was deleted', async () => {
  server.store.delete(resources.nodes, '', 'n', {});
  expect(readiness()).toBeUndefined();
  await advance(11);
  expect(readiness()).toBe('True');
});
