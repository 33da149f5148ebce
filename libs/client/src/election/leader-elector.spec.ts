import { Metrics } from '@orch/component';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { differingMetrics, parseMetrics } from '../../../../test/conformance/metric-facts.js';
import { eventually, quietLogger } from '../../test/support.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { RestClient } from '../rest/rest-client.js';
import { LeaderElector } from './leader-elector.js';
import { LeaseView } from './lease-view.js';

describe('LeaseView', () => {
  it('never lets another take a lease whose holder may still act', () => {
    // The holder acts until 10 s after it sent its last renewal, by its own clock; the other sees
    // renewals late, and its clock has another zero.
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
          expect(view.mayTake(atMs + offsetMs)).toBe(false);
        }
        expect(view.mayTake(seenMs + 15_001 + offsetMs)).toBe(true);
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

  const candidate = (identity: string, leaseDurationMs = 1_000) => {
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

  it('tells whether it leads', async () => {
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

  it('hands over when the leader stops, at once', async () => {
    // Nobody lives to see it run out.
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

  it('keeps the lead when its server falls silent and there is another', async () => {
    const replica = new TestApiServer({ replicaOf: server });
    const servers = [await replica.start(), url];
    await client.close();
    client = new RestClient({ servers, qps: 0, random: () => 0 });
    const a = candidate('a');
    await eventually('a leads', () => a.isLeader());
    replica.isSilent = true;
    await eventually('it renews elsewhere', () => {
      return server.requests.filter(({ method }) => method === 'PUT').length > 3;
    });
    expect(events).toEqual(['a leads']);
    replica.isSilent = false;
    await a.stop();
    await replica.stop();
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
