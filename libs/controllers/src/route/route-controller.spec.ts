import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { routeController } from './route-controller.js';

const annotation = 'pod-routes.node.orch.io/blue';

describe('routeController', () => {
  let directory: string;
  let harness: ControllerHarness;

  const seed = (name: string, podCIDRs: string[], annotations: Record<string, string> = {}) =>
    harness.server.seed(resources.nodes, {
      metadata: { ...harness.server.get(resources.nodes, name)?.metadata, name, annotations },
      spec: { podCIDRs },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
  const node = (name: string) => harness.server.get(resources.nodes, name);
  const announced = (name: string) => node(name)?.metadata?.annotations?.[annotation];
  const unavailable = (name: string) => {
    const conditions = node(name)?.status?.conditions ?? [];
    const found = conditions.find(({ type }) => type === 'NetworkUnavailable');
    return found && `${found.status} ${found.reason}`;
  };
  const writes = () => harness.server.requests.filter(({ method }) => method !== 'GET').length;

  function create(...flags: string[]): void {
    const file = join(directory, 'pool.yaml');
    writeFileSync(file, 'addresses: []');
    harness = new ControllerHarness([routeController], {
      flags: [
        ...['--cloud-provider=pool', `--cloud-config=${file}`, '--cluster-name=blue'],
        ...['--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/16', ...flags],
      ],
    });
  }

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'orch-routes-'));
    create();
  });
  afterEach(async () => {
    await harness.stop();
    rmSync(directory, { recursive: true });
  });

  it('announces the ranges of a node and reports that it can be reached', async () => {
    seed('a', ['10.0.1.0/24', 'fd00::/64']);
    await harness.start();
    expect(announced('a')).toBe('10.0.1.0/24,fd00::/64');
    expect(unavailable('a')).toBe('False RouteCreated');
    expect(node('a')?.status?.conditions).toHaveLength(2);
  });

  it('reports a node without a range as unavailable until it has one', async () => {
    seed('a', []);
    await harness.start();
    expect(unavailable('a')).toBe('True NoRouteCreated');
    seed('a', ['10.0.1.0/24']);
    await harness.advance(11_000);
    expect(unavailable('a')).toBe('False RouteCreated');
  });

  it('writes nothing while the routes are complete', async () => {
    seed('a', ['10.0.1.0/24']);
    await harness.start();
    await harness.advance(11_000);
    const before = writes();
    await harness.advance(600_000);
    expect(writes()).toBe(before);
  });

  it('withdraws a range that the node does not have', async () => {
    seed('a', [], { [annotation]: '10.0.7.0/24,192.168.0.0/24' });
    await harness.start();
    expect(announced('a')).toBe('192.168.0.0/24');
  });

  it('reports a failed route once with an event for each attempt, and recovers', async () => {
    seed('a', ['10.0.1.0/24']);
    seed('b', ['10.0.2.0/24']);
    harness.server.interceptNext('PATCH', resources.nodes, () => {
      throw new ApiError(500, 'InternalError', 'broken');
    });
    await harness.start();
    expect([unavailable('a'), unavailable('b')]).toEqual([
      'True NoRouteCreated',
      'False RouteCreated',
    ]);
    expect(harness.events()).toEqual([
      'FailedToCreateRoute: Could not create route 10.0.1.0/24 for node a: broken',
    ]);
    await harness.advance(11_000);
    expect(unavailable('a')).toBe('False RouteCreated');
  });

  it('waits for the period of the flag', async () => {
    await harness.stop();
    create('--route-reconciliation-period=1m');
    await harness.start();
    seed('late', ['10.0.1.0/24']);
    await harness.advance(50_000);
    expect(announced('late')).toBeUndefined();
    await harness.advance(15_000);
    expect(announced('late')).toBe('10.0.1.0/24');
  });

  it('does nothing with --configure-cloud-routes=false', async () => {
    await harness.stop();
    create('--configure-cloud-routes=false');
    seed('a', ['10.0.1.0/24']);
    await harness.start();
    await harness.advance(60_000);
    expect(writes()).toBe(0);
  });
});
