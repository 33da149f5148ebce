import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { advanceUntil, eventually, quietLogger } from '../../test/support.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { Informer } from '../informer/informer.js';
import type { ApiObject } from '../objects.js';
import { RestClient } from './rest-client.js';
import type { RestClientOptions } from './rest-types.js';

const pods = { group: 'core', version: 'v1', plural: 'pods' };
const podsPath = '/api/v1/namespaces/default/pods';

describe('a client of several servers', () => {
  let a: TestApiServer;
  let b: TestApiServer;
  let urls: string[];
  const ends: (() => Promise<void>)[] = [];

  /** Chooses `a` first. */
  const client = (options: Partial<RestClientOptions> = {}) => {
    const made = new RestClient({ servers: urls, random: () => 0, ...options });
    ends.push(() => made.close());
    return made;
  };
  const names = (informer: Informer<ApiObject>) =>
    informer.lister.list().map((pod) => pod.metadata?.name);
  const following = async (made: RestClient) => {
    const informer = new Informer<ApiObject>({ client: made, resource: pods, logger: quietLogger });
    ends.push(() => informer.stop());
    informer.start();
    await informer.whenSynced(5_000);
    await eventually('the watch is open', () => a.watcherCount === 1);
    return informer;
  };
  const lists = () =>
    [...a.requests, ...b.requests].filter(({ url }) => url.startsWith('/api/v1/pods?limit'));

  beforeEach(async () => {
    a = new TestApiServer();
    b = new TestApiServer({ replicaOf: a });
    urls = [await a.start(), await b.start()];
  });

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    await Promise.all([a.stop(), b.stop()]);
  });

  it('stays with one server, which it chooses at random', async () => {
    const one = client();
    for (let count = 0; count < 5; count++) await one.request('GET', podsPath);
    expect([a.requests.length, b.requests.length]).toEqual([5, 0]);
    await client({ random: () => 0.99 }).request('GET', podsPath);
    expect(b.requests).toHaveLength(1);
  });

  it('sends a write to the next server when the first cannot be reached', async () => {
    await a.stop();
    const handle = client().resource(pods, 'default');
    await handle.create({ metadata: { name: 'web' } });
    expect(b.requests.map((one) => one.method)).toEqual(['POST']);
    await a.start();
  });

  it('resends a write when the connection closes during the TLS handshake', async () => {
    const closer = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => closer.listen(0, '127.0.0.1', resolve));
    const { port } = closer.address() as { port: number };
    const servers = [`https://127.0.0.1:${port}`, urls[1]!];
    await client({ servers })
      .resource(pods, 'default')
      .create({ metadata: { name: 'web' } });
    expect(b.paths(podsPath)).toHaveLength(1);
    await new Promise((resolve) => closer.close(resolve));
  });

  it('does not retry a write whose response was lost, but retries a read', async () => {
    const breaker = createServer((socket) => socket.once('data', () => socket.destroy()));
    await new Promise<void>((resolve) => breaker.listen(0, '127.0.0.1', resolve));
    const { port } = breaker.address() as { port: number };
    const servers = [`http://127.0.0.1:${port}`, urls[1]!];
    const write = client({ servers }).resource(pods, 'default');
    await expect(write.create({ metadata: { name: 'web' } })).rejects.toMatchObject({
      code: 'connection_lost',
      requestSent: true,
    });
    expect(b.requests).toHaveLength(0);
    // The read moves on to the server that responds, also as the first request of a client.
    expect((await write.list()).items).toEqual([]);
    await client({ servers }).request('GET', podsPath);
    expect(b.requests).toHaveLength(2);
    await new Promise((resolve) => breaker.close(resolve));
  });

  it('retries immediately on another server when a server that is not ready rejects a request', async () => {
    a.faults.push({ statusCode: 503, retryAfter: '20' }, { statusCode: 503, retryAfter: '20' });
    const one = client();
    await one.resource(pods, 'default').create({ metadata: { name: 'web' } });
    expect([a.requests.length, b.requests.length]).toEqual([1, 1]);
    const other = client();
    a.faults[0] = { statusCode: 503 };
    await other.resource(pods, 'default').get('web');
    expect([a.requests.length, b.requests.length]).toEqual([2, 2]);
  });

  it('does not retry a write that was rejected without Retry-After', async () => {
    a.faults.push({ statusCode: 503 });
    const failed = client()
      .resource(pods, 'default')
      .create({ metadata: { name: 'web' } });
    await expect(failed).rejects.toMatchObject({ statusCode: 503 });
    expect(b.requests).toHaveLength(0);
  });

  it('waits when all servers reject a request, instead of retrying in a tight loop', async () => {
    for (const server of [a, b]) {
      for (let count = 0; count < 9; count++) {
        server.faults.push({ statusCode: 503, retryAfter: '20' });
      }
    }
    const failed = client().request('GET', podsPath, { timeoutMs: 2_000 });
    await expect(failed).rejects.toMatchObject({ statusCode: 503 });
    expect([a.requests.length, b.requests.length]).toEqual([1, 1]);
  });

  it('resumes a watch on another server, without a list, when its server stops', async () => {
    const informer = await following(client());
    await a.stop();
    a.put(`${podsPath}/web`);
    await eventually('the change is seen', () => names(informer).includes('web'));
    expect(lists()).toHaveLength(1);
    expect(b.requests[0]?.url).toContain('watch=true');
    await a.start();
  });

  it('detects a hung server while only a watch is open', async () => {
    const clock = new TestClock();
    const informer = await following(client({ clock }));
    a.isSilent = true;
    a.put(`${podsPath}/web`);
    await advanceUntil(clock, 15_000, () => a.watcherCount === 0);
    await eventually('the change is seen', () => names(informer).includes('web'));
    expect(lists()).toHaveLength(1);
  });

  it('retries a read that waits for a hung server on another server', async () => {
    const clock = new TestClock();
    a.isSilent = true;
    const response = client({ clock }).request('GET', podsPath);
    await eventually('the request was sent', () => a.requests.length === 1);
    await advanceUntil(clock, 15_000, () => b.requests.length === 1);
    expect((await response).statusCode).toBe(200);
  });

  it('avoids a server on which a request timed out until it responds again', async () => {
    const clock = new TestClock();
    const hanging = client({ clock });
    a.isSilent = true;
    const timedOut = hanging.request('POST', podsPath, { body: {}, timeoutMs: 1_000 });
    timedOut.catch(() => undefined);
    await eventually('the request was sent', () => a.requests.length === 1);
    await advanceUntil(clock, 2_000, () => clock.monotonicMs() >= 1_100);
    await expect(timedOut).rejects.toMatchObject({ code: 'timeout' });
    // Long after a failed server is chosen again, another failure does not lead back to a hung one.
    await advanceUntil(clock, 20_000, () => clock.monotonicMs() >= 15_000);
    b.faults.push({ statusCode: 503, retryAfter: '1' });
    const retried = hanging.request('GET', podsPath);
    await advanceUntil(clock, 5_000, () => b.requests.length === 2);
    expect((await retried).statusCode).toBe(200);
    expect(a.requests).toHaveLength(1);
    // It responds: the next failure leads back.
    a.isSilent = false;
    await advanceUntil(clock, 30_000, () => clock.monotonicMs() >= 25_000);
    b.faults.push({ statusCode: 503, retryAfter: '20' });
    const returned = hanging.request('GET', podsPath);
    await advanceUntil(clock, 5_000, () => a.requests.length === 2);
    expect((await returned).statusCode).toBe(200);
  });

  it('keeps the streams open on a quiet server that responds to probes', async () => {
    const clock = new TestClock();
    await following(client({ clock }));
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(a.watcherCount).toBe(1);
    expect(b.requests).toHaveLength(0);
  });

  it('leaves a server that is not ready only while another one is ready', async () => {
    const clock = new TestClock();
    const informer = await following(client({ clock }));
    a.isReady = false;
    b.isReady = false;
    for (let second = 0; second < 30; second++) {
      await clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(a.watcherCount).toBe(1);
    b.isReady = true;
    await advanceUntil(clock, 15_000, () => a.watcherCount === 0);
    a.put(`${podsPath}/web`);
    await eventually('the change is seen', () => names(informer).includes('web'));
    expect(lists()).toHaveLength(1);
  });

  it('returns to its home server some time after that is ready again', async () => {
    const clock = new TestClock();
    const one = client({ clock });
    await a.stop();
    const moved = one.request('GET', podsPath);
    await advanceUntil(clock, 1_000, () => b.requests.length === 1);
    await moved;
    await a.start();
    a.isReady = false;
    await clock.advance(61_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await one.request('GET', podsPath);
    expect([a.requests.length, b.requests.length]).toEqual([0, 2]);
    a.isReady = true;
    await clock.advance(61_000);
    await eventually('it has returned', () => {
      void one.request('GET', podsPath);
      return a.requests.length > 0;
    });
  });
});
