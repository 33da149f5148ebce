import { ApiError, type RequestOptions, resources } from '@orch/client';
import { dialect, FeatureGates, Metrics, parseOptions } from '@orch/component';
import { expect, it } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { quietLogger } from '../../../client/test/support.js';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { ControllersOptions } from '../common/options.js';
import { ControllerManager } from './controller-manager.js';

class WithoutTokens extends MemoryApiClient {
  requestCount = 0;

  override async request(method: string, path: string, options: RequestOptions = {}) {
    this.requestCount += 1;
    if (path.endsWith('/token')) throw new ApiError(503, 'ServiceUnavailable', 'no leader');
    return super.request(method, path, options);
  }
}

function managerWith(client: MemoryApiClient, clock: TestClock, ...flags: string[]) {
  const options = { program: 'test', description: '', version: '' };
  return new ControllerManager(
    {
      client,
      authorityPem: undefined,
      qps: 0,
      burst: 0,
      logger: quietLogger,
      metrics: new Metrics(),
      clock,
      features: new FeatureGates('controller-manager'),
      random: () => 0,
    },
    parseOptions(ControllersOptions, flags, options),
  );
}

it('shows the queues and caches of the controllers while it runs', async () => {
  const clock = new TestClock();
  const server = new MemoryApiServer({ clock, random: () => 0.5 });
  server.seed(resources.pods, { metadata: { name: 'a', namespace: 'default' } });
  const manager = managerWith(new MemoryApiClient(server), clock, '--controllers=replicaset');
  expect(manager.view()).toBeUndefined();
  await manager.start();
  const view = manager.view();
  const idle = { readyCount: 0, delayedCount: 0, inWork: {}, ready: [], delayed: {} };
  expect(view?.controllers).toEqual({ replicaset: [{ name: 'replicaset', ...idle }] });
  expect(view?.caches).toContainEqual(
    expect.objectContaining({ resource: 'pods.v1.core', objectCount: 1, isSynced: true }),
  );
  await manager.stop();
});

it('reports a jump of the clock once, and no correction of a second', async () => {
  const clock = new TestClock();
  const server = new MemoryApiServer({ clock, random: () => 0.5 });
  const manager = managerWith(new MemoryApiClient(server), clock, '--controllers=replicaset');
  await manager.start();
  const events = () =>
    server
      .list(resources.events)
      .map(({ involvedObject, reason, message }) => [involvedObject.name, reason, message]);
  clock.jump(1_000);
  await clock.advance(60_000);
  expect(events()).toEqual([]);
  clock.jump(86_400_000);
  await clock.advance(60_000);
  clock.jump(-86_400_000);
  await clock.advance(60_000);
  const report = (direction: string) => [
    dialect().systemNamespace,
    'ClockJumped',
    `the clock of the controller manager jumped ${direction} by 86400 s: schedules, deadlines and lifetimes of objects are measured from the new time`,
  ];
  expect(events()).toEqual([report('ahead'), report('back')]);
  await manager.stop();
});

it('stops while it waits for the tokens of controllers', async () => {
  const clock = new TestClock();
  const client = new WithoutTokens(new MemoryApiServer({ clock, random: () => 0.5 }));
  const manager = new ControllerManager(
    {
      client,
      anonymousClient: client,
      authorityPem: undefined,
      qps: 0,
      burst: 0,
      logger: quietLogger,
      metrics: new Metrics(),
      clock,
      features: new FeatureGates('controller-manager'),
      random: () => 0,
    },
    parseOptions(ControllersOptions, [], { program: 'test', description: '', version: '' }),
  );
  const started = manager.start();
  await clock.advance(1_000);
  const { requestCount } = client;
  expect(requestCount).toBeGreaterThan(10);
  await manager.stop();
  await started;
  await clock.advance(60_000);
  expect(client.requestCount).toBe(requestCount);
});
