import type { Lease } from '@orch/types/coordination/v1';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { advanceUntil, quietLogger } from '../../test/support.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { resources } from '../generated/resources.js';
import { RestClient } from '../rest/rest-client.js';
import { AnnouncedHolder } from './announced-holder.js';
import { createLock } from './create-lock.js';
import { LeaderElector } from './leader-elector.js';
import { servingUrlOf } from './serving-url.js';

const url = 'https://127.0.0.1:10259';
const place = { namespace: 'n', name: 'lock', resourceLock: 'leases' } as const;

let server: TestApiServer;
let client: RestClient;
let clock: TestClock;
let holders: AnnouncedHolder[];

beforeEach(async () => {
  server = new TestApiServer();
  client = new RestClient({ servers: [await server.start()], qps: 0 });
  clock = new TestClock();
  holders = [];
});
afterEach(async () => {
  await Promise.all(holders.map((one) => one.stop()));
  await client.close();
  await server.stop();
});

function holder(identity: string, name: string = place.name): AnnouncedHolder {
  const lock = createLock({ ...place, name, client, servingUrl: url });
  const created = new AnnouncedHolder({ lock, identity, logger: quietLogger, clock });
  holders.push(created);
  return created;
}

const leases = () => client.resource(resources.leases, 'n');
const lease = async () => (await leases().list()).items[0];
const holderOf = async () => (await lease())?.spec?.holderIdentity;
const untilHeldBy = async (identity: string, withinMs = 5_000) => {
  let seen: string | undefined;
  await advanceUntil(clock, withinMs, () => {
    void holderOf().then((found) => {
      seen = found;
    });
    return seen === identity;
  });
};

it('names the process and its URL, renews rarely, and removes them in the end', async () => {
  const a = holder('a');
  a.start();
  await untilHeldBy('a');
  const written = await lease();
  expect(servingUrlOf(written!)).toBe(url);
  const renewedAt = () => server.requests.filter(({ method }) => method === 'PUT').length;
  await advanceUntil(clock, 25_000, () => renewedAt() === 1);
  const renewed = await lease();
  expect(renewed?.spec?.renewTime).not.toBe(written?.spec?.renewTime);
  expect(renewed?.spec).toMatchObject({
    holderIdentity: 'a',
    acquireTime: written?.spec?.acquireTime,
    leaseTransitions: 0,
  });
  await a.stop();
  const released = await lease();
  expect(released?.spec?.holderIdentity).toBe('');
  expect(servingUrlOf(released!)).toBeUndefined();
});

it('renews without reading, together with the other holders of the process', async () => {
  const count = (method: string) => server.requests.filter((one) => one.method === method).length;
  holder('a', 'one').start();
  await advanceUntil(clock, 3_000, () => count('POST') === 1);
  holder('b', 'two').start();
  await advanceUntil(clock, 3_000, () => count('POST') === 2);
  const readCount = count('GET');
  await advanceUntil(clock, 25_000, () => count('PUT') === 2);
  const times = (await leases().list()).items.map(({ spec }) => spec?.renewTime);
  expect(times[0]).toBe(times[1]);
  await advanceUntil(clock, 25_000, () => count('PUT') === 4);
  // The list above.
  expect(count('GET')).toBe(readCount + 1);
});

it('reads again when another process has written the lock object', async () => {
  holder('a').start();
  await untilHeldBy('a');
  const { metadata, spec } = (await lease())!;
  await leases().replace({ metadata, spec: { ...spec, holderIdentity: 'other' } } as Lease);
  await untilHeldBy('a', 25_000);
  expect((await lease())?.spec?.leaseTransitions).toBe(1);
});

it('replaces the record of a killed process, and leaves that of a later one', async () => {
  const killed = holder('killed');
  killed.start();
  await untilHeldBy('killed');
  holder('next').start();
  await untilHeldBy('next');
  const { spec } = (await lease())!;
  expect(spec?.leaseTransitions).toBe(1);
  await killed.stop();
  expect(await holderOf()).toBe('next');
});

it('writes when the server recovers', async () => {
  server.faults.push({ statusCode: 403 }, { statusCode: 403 }, { statusCode: 403 });
  holder('a').start();
  await advanceUntil(clock, 10_000, () => server.faults.length === 0);
  await untilHeldBy('a');
});

it('lets a candidate of an election acquire the lock when it has stopped', async () => {
  const a = holder('a');
  a.start();
  await untilHeldBy('a');
  const elector = new LeaderElector({
    ...{ client, clock, ...place, identity: 'b', logger: quietLogger, random: () => 0 },
    ...{ onStartedLeading: () => {}, onLost: () => {} },
  });
  elector.start();
  await advanceUntil(clock, 5_000, () => server.requests.length > 5);
  expect(elector.isLeader()).toBe(false);
  await a.stop();
  await advanceUntil(clock, 5_000, () => elector.isLeader());
  await elector.stop();
});
