import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, quietLogger } from '../../test/support.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { TestClock } from '../../test/test-clock.js';
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

  /** Begins at `a`. */
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

  it('stays with one, and spreads over them by chance', async () => {
    const one = client();
    for (let count = 0; count < 5; count++) await one.request('GET', podsPath);
    expect([a.requests.length, b.requests.length]).toEqual([5, 0]);
    await client({ random: () => 0.99 }).request('GET', podsPath);
    expect(b.requests).toHaveLength(1);
  });

  it('sends writes to the next one when the first cannot be reached', async () => {
    await a.stop();
    const handle = client().resource(pods, 'default');
    await handle.create({ metadata: { name: 'web' } });
    expect(b.requests.map((one) => one.method)).toEqual(['POST']);
    await a.start();
  });

  it('takes a connection that ends before it is secured for a request that was not sent', async () => {
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

  it('does not repeat a write whose answer was lost, and does repeat a read', async () => {
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
    // The next request of this client, and the first of another, go on where there is an answer.
    expect((await write.list()).items).toEqual([]);
    await client({ servers }).request('GET', podsPath);
    expect(b.requests).toHaveLength(2);
    await new Promise((resolve) => breaker.close(resolve));
  });

  it('asks another server at once what one that is not ready refused', async () => {
    a.faults.push({ statusCode: 503, retryAfter: '20' }, { statusCode: 503, retryAfter: '20' });
    const one = client();
    await one.resource(pods, 'default').create({ metadata: { name: 'web' } });
    expect([a.requests.length, b.requests.length]).toEqual([1, 1]);
    const other = client();
    a.faults[0] = { statusCode: 503 };
    await other.resource(pods, 'default').get('web');
    expect([a.requests.length, b.requests.length]).toEqual([2, 2]);
  });

  it('does not repeat a write that was refused without a word on when to come back', async () => {
    a.faults.push({ statusCode: 503 });
    const failed = client()
      .resource(pods, 'default')
      .create({ metadata: { name: 'web' } });
    await expect(failed).rejects.toMatchObject({ statusCode: 503 });
    expect(b.requests).toHaveLength(0);
  });

  it('waits when all of them refuse, instead of asking in a loop', async () => {
    for (const server of [a, b]) {
      for (let count = 0; count < 9; count++) {
        server.faults.push({ statusCode: 503, retryAfter: '20' });
      }
    }
    const failed = client().request('GET', podsPath, { timeoutMs: 2_000 });
    await expect(failed).rejects.toMatchObject({ statusCode: 503 });
    expect([a.requests.length, b.requests.length]).toEqual([1, 1]);
  });

  it('goes on with a watch elsewhere, without a list, when its server dies', async () => {
    const informer = await following(client());
    await a.stop();
    a.put(`${podsPath}/web`);
    await eventually('the change is seen', () => names(informer).includes('web'));
    expect(lists()).toHaveLength(1);
    expect(b.requests[0]?.url).toContain('watch=true');
    await a.start();
  });

  it('notices a server that has fallen silent although it only watches', async () => {
    const clock = new TestClock();
    const informer = await following(client({ clock }));
    a.isSilent = true;
    a.put(`${podsPath}/web`);
    await passes(clock, 15_000, () => a.watcherCount === 0);
    await eventually('the change is seen', () => names(informer).includes('web'));
    expect(lists()).toHaveLength(1);
  });

  it('sends reads that wait for a silent server to another', async () => {
    const clock = new TestClock();
    a.isSilent = true;
    const answer = client({ clock }).request('GET', podsPath);
    await eventually('it has been sent', () => a.requests.length === 1);
    await passes(clock, 15_000, () => b.requests.length === 1);
    expect((await answer).statusCode).toBe(200);
  });

  it('keeps the streams of a server that answers, however quiet it is', async () => {
    const clock = new TestClock();
    await following(client({ clock }));
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(a.watcherCount).toBe(1);
    expect(b.requests).toHaveLength(0);
  });

  it('leaves a server that is not ready while another one is, and only then', async () => {
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
    await passes(clock, 15_000, () => a.watcherCount === 0);
    a.put(`${podsPath}/web`);
    await eventually('the change is seen', () => names(informer).includes('web'));
    expect(lists()).toHaveLength(1);
  });

  it('goes back to its own server a while after that is ready again', async () => {
    const clock = new TestClock();
    const one = client({ clock });
    await a.stop();
    const moved = one.request('GET', podsPath);
    await passes(clock, 1_000, () => b.requests.length === 1);
    await moved;
    await a.start();
    a.isReady = false;
    await clock.advance(61_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await one.request('GET', podsPath);
    expect([a.requests.length, b.requests.length]).toEqual([0, 2]);
    a.isReady = true;
    await clock.advance(61_000);
    await eventually('it is back', () => {
      void one.request('GET', podsPath);
      return a.requests.length > 0;
    });
  });
});

/** Lets at most `withinMs` of the clock pass, with real answers in between. */
async function passes(clock: TestClock, withinMs: number, condition: () => boolean) {
  for (let passedMs = 0; !condition(); passedMs += 100) {
    if (passedMs > withinMs) throw new Error(`not within ${withinMs} ms`);
    await clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
