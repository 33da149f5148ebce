import { Metrics } from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { differingMetrics, parseMetrics } from '../../../../test/conformance/metric-facts.js';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { advanceUntil, eventually, quietLogger } from '../../test/support.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { RestClient } from '../rest/rest-client.js';
import { LeaderElector, type LeaderElectorOptions } from './leader-elector.js';
import { LeaseView } from './lease-view.js';
import { servingUrlOf } from './serving-url.js';

describe('LeaseView', () => {
  it('never lets a candidate acquire a lease whose holder may still act', () => {
    // The holder acts until 10 s after it sent its last renewal, by its own clock. The candidate
    // observes renewals late, and its clock has another zero.
    const renewals = fc.array(fc.record({ gapMs: fc.nat(9_000), lateMs: fc.nat(20_000) }), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(renewals, fc.nat(1_000_000), (steps, offsetMs) => {
        const view = new LeaseView('b');
        let sentMs = 0;
        let seenMs = 0;
        for (const [index, { gapMs, lateMs }] of steps.entries()) {
          sentMs += gapMs;
          seenMs = Math.max(seenMs, sentMs + lateMs);
          const record = { holderIdentity: 'a', leaseDurationMs: 15_000, renewal: `${index}` };
          view.observe(record, seenMs + offsetMs);
        }
        for (let atMs = sentMs; atMs <= sentMs + 10_000; atMs += 500) {
          expect(view.mayAcquire(atMs + offsetMs)).toBe(false);
        }
        expect(view.mayAcquire(seenMs + 15_001 + offsetMs)).toBe(true);
      }),
    );
  });
});

describe('LeaderElector', () => {
  let server: TestApiServer;
  let client: RestClient;
  let url: string;
  const electors: LeaderElector[] = [];
  let events: string[];
  let metrics: Metrics;

  const candidate = (
    identity: string,
    leaseDurationMs = 1_000,
    timing: Partial<LeaderElectorOptions> = {},
  ) => {
    const elector = new LeaderElector({
      client,
      namespace: 'n',
      name: 'lock',
      identity,
      leaseDurationMs,
      renewDeadlineMs: 500,
      retryPeriodMs: 30,
      logger: quietLogger,
      metrics,
      onStartedLeading: (signal) => {
        events.push(`${identity} leads`);
        signal.addEventListener('abort', () => events.push(`${identity} ends`));
      },
      onLost: () => events.push(`${identity} lost`),
      ...timing,
    });
    electors.push(elector);
    elector.start();
    return elector;
  };

  beforeEach(async () => {
    server = new TestApiServer();
    url = await server.start();
    client = new RestClient({ servers: [url], qps: 0 });
    events = [];
    metrics = new Metrics();
  });

  afterEach(async () => {
    await Promise.all(electors.splice(0).map((one) => one.stop()));
    await client.close();
    await server.stop();
  });

  it('reports in a metric whether it leads', async () => {
    const status = async () =>
      /^leader_election_master_status\{name="lock"\} (\d)$/m.exec(await metrics.render())?.[1];
    const a = candidate('a');
    expect(await status()).toBe('0');
    await eventually('a leads', () => a.isLeader());
    expect(await status()).toBe('1');
    expect(differingMetrics(parseMetrics(await metrics.render()))).toEqual({});
    await a.stop();
    expect(await status()).toBe('0');
  });

  it('is unhealthy if it still leads long after the end of its lease', async () => {
    let nowMs = 0;
    const setTimer = () => ({ cancel: () => undefined });
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, setTimer };
    const a = candidate('a', 1_000, { clock });
    a.checkRenewal(20_000);
    await eventually('a leads', () => a.isLeader());
    nowMs = 500 + 20_000;
    expect(() => a.checkRenewal(20_000)).not.toThrow();
    nowMs += 1;
    expect(() => a.checkRenewal(20_000)).toThrow(
      'failed election to renew leadership on lease lock',
    );
  });

  it('releases the lease when it stops, so that a candidate leads immediately', async () => {
    // Does not expire within the test.
    const leaseDurationMs = 3_600_000;
    const a = candidate('a', leaseDurationMs);
    await eventually('a leads', () => a.isLeader());
    const b = candidate('b', leaseDurationMs);
    await a.stop();
    await eventually('b leads', () => b.isLeader());
    expect(events).toEqual(['a leads', 'a ends', 'b leads']);
    const path = server.paths('/apis/coordination.orch.io/v1/namespaces/n/leases')[0]!;
    expect(server.get(path)).toMatchObject({
      spec: { holderIdentity: 'b', leaseTransitions: 1 },
    });
  });

  it('writes the URL of the leader to the lease, and removes that of an earlier one', async () => {
    const leaseDurationMs = 3_600_000;
    const lease = () =>
      server.get(server.paths('/apis/coordination.orch.io/v1/namespaces/n/leases')[0]!) as Lease;
    const a = candidate('a', leaseDurationMs, { servingUrl: 'https://10.0.0.1:10259' });
    await eventually('a leads', () => a.isLeader());
    expect(servingUrlOf(lease())).toBe('https://10.0.0.1:10259');
    await a.stop();
    expect(servingUrlOf(lease())).toBeUndefined();
    const b = candidate('b', leaseDurationMs);
    await eventually('b leads', () => b.isLeader());
    expect(servingUrlOf(lease())).toBeUndefined();
  });

  it('keeps leading when its server hangs and another one responds', async () => {
    const replica = new TestApiServer({ replicaOf: server });
    const servers = [await replica.start(), url];
    await client.close();
    client = new RestClient({ servers, qps: 0, random: () => 0 });
    const a = candidate('a');
    await eventually('a leads', () => a.isLeader());
    replica.isSilent = true;
    await eventually('it renews on the other server', () => {
      return server.requests.filter(({ method }) => method === 'PUT').length > 3;
    });
    expect(events).toEqual(['a leads']);
    replica.isSilent = false;
    await a.stop();
    await replica.stop();
  });

  it('keeps leading when two of three servers accept connections and never respond', async () => {
    const clock = new TestClock();
    const replicas = [1, 2].map(() => new TestApiServer({ replicaOf: server }));
    const hung = await Promise.all(replicas.map((replica) => replica.start()));
    await client.close();
    // Chooses the first of several equal servers: always a hung one unless hung ones are avoided.
    client = new RestClient({ servers: [...hung, url], qps: 0, random: () => 0, clock });
    const a = candidate('a', 15_000, { renewDeadlineMs: 10_000, retryPeriodMs: 2_000, clock });
    await advanceUntil(clock, 5_000, () => a.isLeader());
    for (const replica of replicas) replica.isSilent = true;
    const renewed = () => server.requests.filter(({ method }) => method === 'PUT').length;
    const before = renewed();
    await advanceUntil(clock, 60_000, () => renewed() > before + 3);
    expect(events).toEqual(['a leads']);
    for (const replica of replicas) replica.isSilent = false;
    await a.stop();
    await Promise.all(replicas.map((replica) => replica.stop()));
  });

  it('renews immediately after a renewal whose response was lost', async () => {
    const clock = new TestClock();
    const a = candidate('a', 15_000, { renewDeadlineMs: 10_000, retryPeriodMs: 2_000, clock });
    await eventually('a leads', () => a.isLeader());
    const puts = () => server.requests.filter(({ method }) => method === 'PUT').length;
    server.lostResponseCount = 1;
    await advanceUntil(clock, 3_000, () => puts() >= 3);
    // The stored renewal conflicts with the retry, which reads the lease and writes it again.
    expect(server.requests.slice(-3).map(({ method }) => method)).toEqual(['PUT', 'GET', 'PUT']);
    expect(events).toEqual(['a leads']);
  });

  it('steps down when it cannot renew in time', async () => {
    const a = candidate('a');
    await eventually('a leads', () => a.isLeader());
    for (let index = 0; index < 1_000; index++) server.faults.push({ statusCode: 500 });
    await eventually('a is lost', () => events.includes('a lost'));
    expect(events).toEqual(['a leads', 'a ends', 'a lost']);
    expect(a.isLeader()).toBe(false);
    server.faults.length = 0;
  });
});
