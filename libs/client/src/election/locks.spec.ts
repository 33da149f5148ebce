import type { LeaderElectionLock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { advanceUntil, quietLogger } from '../../test/support.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { resources } from '../generated/resources.js';
import { RestClient } from '../rest/rest-client.js';
import { LeaderElector } from './leader-elector.js';
import { electionRecordKey } from './object-lock.js';

const leaseDurationMs = 15_000;
const kinds: LeaderElectionLock[] = [
  'leases',
  'endpoints',
  'configmaps',
  'endpointsleases',
  'configmapsleases',
];

describe('locks of leader election', () => {
  let server: TestApiServer;
  let client: RestClient;
  let clock: TestClock;
  let electors: LeaderElector[];
  let events: string[];

  const candidate = (identity: string, resourceLock: LeaderElectionLock) => {
    const elector = new LeaderElector({
      client,
      clock,
      resourceLock,
      namespace: 'n',
      name: 'lock',
      identity,
      leaseDurationMs,
      logger: quietLogger,
      random: () => 0,
      onStartedLeading: () => events.push(`${identity} leads`),
      onLost: () => events.push(`${identity} lost`),
    });
    electors.push(elector);
    elector.start();
    return elector;
  };
  const leads = (elector: LeaderElector, withinMs = 20_000) =>
    advanceUntil(clock, withinMs, () => elector.isLeader());
  /** Advances the clock in steps, with time for real responses in between. */
  const pass = async (durationMs: number) => {
    const untilMs = clock.monotonicMs() + durationMs;
    await advanceUntil(clock, durationMs + 100, () => clock.monotonicMs() >= untilMs);
  };
  /** Ends renewals without a release, like a crash: the record stays. */
  const crash = async (elector: LeaderElector) => {
    const before = await records();
    await elector.stop();
    await restore(before);
  };
  const lease = () => client.resource(resources.leases, 'n');
  const endpoints = () => client.resource(resources.endpoints, 'n');
  const records = async () => {
    const objects = [lease(), endpoints(), client.resource(resources.configMaps, 'n')] as const;
    return Promise.all(objects.map(async (one) => (await one.list()).items[0]));
  };
  const restore = async (before: Awaited<ReturnType<typeof records>>) => {
    const clients = [lease(), endpoints(), client.resource(resources.configMaps, 'n')];
    for (const [index, object] of before.entries()) {
      if (!object) continue;
      const { resourceVersion: _old, ...metadata } = object.metadata ?? {};
      await clients[index]!.replace({ ...object, metadata } as never);
    }
  };
  const annotated = async () => {
    const { metadata } = await endpoints().get('lock');
    return JSON.parse(metadata?.annotations?.[electionRecordKey()] ?? 'null');
  };

  beforeEach(async () => {
    server = new TestApiServer();
    client = new RestClient({ servers: [await server.start()], qps: 0 });
    clock = new TestClock();
    electors = [];
    events = [];
  });
  afterEach(async () => {
    await Promise.all(electors.map((one) => one.stop()));
    await client.close();
    await server.stop();
  });

  it.each(kinds)('%s: a candidate leads when the leader releases the lock', async (kind) => {
    const a = candidate('a', kind);
    await leads(a);
    const b = candidate('b', kind);
    await pass(leaseDurationMs + 3_000);
    expect(b.isLeader()).toBe(false);
    await a.stop();
    await leads(b);
    expect(events).toEqual(['a leads', 'b leads']);
  });

  it.each(kinds)('%s: a candidate waits for the lease of a crashed leader', async (kind) => {
    const a = candidate('a', kind);
    await leads(a);
    const b = candidate('b', kind);
    await pass(2_500);
    await crash(a);
    await pass(leaseDurationMs - 5_000);
    expect(b.isLeader()).toBe(false);
    await leads(b, leaseDurationMs);
  });

  it('stores the record of other clients in an annotation, and keeps the rest', async () => {
    await endpoints().create({ metadata: { name: 'lock', labels: { kept: 'yes' } } });
    const a = candidate('a', 'endpoints');
    await leads(a);
    expect(await annotated()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: expect.stringMatching(/T\d\d:\d\d:\d\dZ$/),
      renewTime: expect.stringMatching(/T\d\d:\d\d:\d\dZ$/),
      leaderTransitions: 1,
    });
    expect((await endpoints().get('lock')).metadata?.labels).toEqual({ kept: 'yes' });
  });

  it('never leads beside a record that it cannot read', async () => {
    const annotations = { [electionRecordKey()]: 'damaged' };
    await endpoints().create({ metadata: { name: 'lock', annotations } });
    const a = candidate('a', 'endpoints');
    await pass(leaseDurationMs * 3);
    expect(a.isLeader()).toBe(false);
  });

  it('changes from endpoints over both to leases, one leader at a time', async () => {
    const old = candidate('old', 'endpoints');
    await leads(old);
    const both = candidate('both', 'endpointsleases');
    await pass(leaseDurationMs * 2);
    expect(both.isLeader()).toBe(false);
    await old.stop();
    await leads(both);
    expect((await lease().get('lock')).spec?.holderIdentity).toBe('both');
    expect(await annotated()).toMatchObject({ holderIdentity: 'both', leaderTransitions: 1 });

    const late = candidate('late', 'endpoints');
    const last = candidate('last', 'leases');
    await pass(leaseDurationMs * 2);
    expect([late.isLeader(), last.isLeader()]).toEqual([false, false]);
    await late.stop();
    await both.stop();
    await leads(last);

    const behind = candidate('behind', 'endpointsleases');
    await pass(leaseDurationMs * 2);
    expect(behind.isLeader()).toBe(false);
    expect(events).toEqual(['old leads', 'both leads', 'last leads']);
  });

  it('treats two holders as unknown, and acquires when neither renews', async () => {
    const x = candidate('x', 'endpoints');
    const y = candidate('y', 'leases');
    await leads(x);
    await leads(y);
    const both = candidate('both', 'endpointsleases');
    await crash(x);
    await pass(leaseDurationMs * 2);
    expect(both.isLeader()).toBe(false);
    await crash(y);
    await pass(leaseDurationMs - 5_000);
    expect(both.isLeader()).toBe(false);
    await leads(both, leaseDurationMs);
  });
});
