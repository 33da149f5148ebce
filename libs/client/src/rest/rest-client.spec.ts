import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestApiServer } from '../../test/test-api-server.js';
import type { ApiObject } from '../objects.js';
import { ApiError, isConflict, isNotFound } from './api-error.js';
import { RestClient } from './rest-client.js';
import type { RestClientOptions } from './rest-types.js';
import { TransportError } from './transport-error.js';

const pods = { group: 'core', version: 'v1', plural: 'pods' };
const podsPath = '/api/v1/namespaces/default/pods';

describe('RestClient', () => {
  let server: TestApiServer;
  let url: string;
  const open: RestClient[] = [];

  const client = (options: Partial<RestClientOptions> = {}) => {
    const made = new RestClient({ servers: [url], ...options });
    open.push(made);
    return made;
  };

  beforeEach(async () => {
    server = new TestApiServer();
    url = await server.start();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    await server.stop();
  });

  it('creates, reads, replaces and deletes', async () => {
    const handle = client().resource(pods, 'default');
    const made = await handle.create({ metadata: { name: 'web' } });
    expect(made.metadata?.namespace).toBe('default');
    expect((await handle.get('web')).metadata?.uid).toBe(made.metadata?.uid);
    await handle.replace(made);
    await expect(handle.replace(made)).rejects.toSatisfy(isConflict);
    await handle.delete('web', { propagationPolicy: 'Background' });
    await expect(handle.get('web')).rejects.toSatisfy(isNotFound);
  });

  it('sends credentials, impersonation and media types', async () => {
    server.put(`${podsPath}/web`);
    const handle = client({ token: () => 't', impersonate: { user: 'a', groups: ['g', 'h'] } });
    await handle.resource(pods, 'default').patch('web', { x: 1 }, { type: 'merge', force: true });
    const { headers, url: target } = server.requests.at(-1)!;
    expect(headers.authorization).toBe('Bearer t');
    expect(headers['impersonate-user']).toBe('a');
    expect(headers['impersonate-group']).toBe('g, h');
    expect(headers['content-type']).toBe('application/merge-patch+json');
    expect(target).toContain('force=true');
  });

  it('sends the token of a derived client in place of its own credentials', async () => {
    const own = client({ token: 'own', impersonate: { user: 'a' } });
    const anonymous = own.withoutCredentials();
    open.push(anonymous);
    let rejectionCount = 0;
    const account = anonymous.derive({
      token: () => 'account',
      onUnauthorized: () => {
        rejectionCount += 1;
      },
    });
    await anonymous.request('GET', podsPath);
    await account.request('GET', podsPath);
    await own.request('GET', podsPath);
    const headers = server.requests.map(({ headers }) => headers);
    expect(headers.map(({ authorization }) => authorization)).toEqual([
      undefined,
      'Bearer account',
      'Bearer own',
    ]);
    expect(headers.map((sent) => sent['impersonate-user'])).toEqual([undefined, undefined, 'a']);
    expect(rejectionCount).toBe(0);
    server.faults.push({ statusCode: 401, reason: 'Unauthorized' });
    await expect(account.request('GET', podsPath)).rejects.toMatchObject({ statusCode: 401 });
    expect(rejectionCount).toBe(1);
  });

  it('reads all pages of a list', async () => {
    for (let index = 0; index < 7; index++) server.put(`${podsPath}/p${index}`);
    const list = await client().resource<ApiObject>(pods).listAll({ limit: 3 });
    expect(list.items.map((item) => item.metadata?.name)).toHaveLength(7);
    expect(server.requests).toHaveLength(3);
  });

  it('retries requests, including writes, that the server rejects with Retry-After', async () => {
    server.faults.push({ statusCode: 429, retryAfter: '0' }, { statusCode: 503, retryAfter: '0' });
    await client()
      .resource(pods, 'default')
      .create({ metadata: { name: 'web' } });
    expect(server.requests.map((one) => one.method)).toEqual(['POST', 'POST', 'POST']);
  });

  it('does not retry a failure without Retry-After', async () => {
    server.faults.push({ statusCode: 503, reason: 'ServiceUnavailable' });
    const failed = client().resource(pods, 'default').get('web');
    await expect(failed).rejects.toMatchObject({ statusCode: 503, reason: 'ServiceUnavailable' });
    expect(server.requests).toHaveLength(1);
  });

  it('reports that the request was not sent when the connection is refused', async () => {
    await server.stop();
    const failed = client()
      .resource(pods, 'default')
      .create({ metadata: { name: 'web' } }, { timeoutMs: 300 });
    const error = await failed.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: 'connect_failed', requestSent: false });
    await server.start();
  });

  it('rejects a request that the rate limit would delay beyond its deadline', async () => {
    const limited = client({ qps: 1, burst: 1 });
    await limited.request('GET', podsPath);
    await expect(limited.request('GET', podsPath, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'throttled',
    });
  });

  it('streams a watch and ends it on abort', async () => {
    const abort = new AbortController();
    server.put(`${podsPath}/a`);
    const seen: string[] = [];
    const watching = (async () => {
      for await (const event of client()
        .resource<ApiObject>(pods)
        .watch({ resourceVersion: '0', signal: abort.signal })) {
        seen.push(`${event.type} ${event.object.metadata?.name}`);
        if (seen.length === 1) server.remove(`${podsPath}/a`);
        if (seen.length === 2) abort.abort(new Error('enough'));
      }
    })();
    await expect(watching).rejects.toThrow('enough');
    expect(seen).toEqual(['ADDED a', 'DELETED a']);
  });

  it('turns an ERROR event into an error', async () => {
    server.put(`${podsPath}/a`);
    server.compact();
    const events = client().resource<ApiObject>(pods).watch({ resourceVersion: '1' });
    const error = await (async () => {
      for await (const event of events) expect.unreachable(event.type);
    })().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ statusCode: 410, reason: 'Expired' });
  });

  it('sends a request that yields after the others', async () => {
    server.faults.push({ statusCode: 503, retryAfter: '0' });
    const handle = client();
    const first = handle.request('GET', podsPath);
    const second = handle.request('GET', `${podsPath}/late`, { yieldMs: 60_000 });
    await first;
    await expect(second).rejects.toSatisfy(isNotFound);
    expect(server.requests.map(({ url: target }) => target)).toEqual([
      podsPath,
      podsPath,
      `${podsPath}/late`,
    ]);
  });

  it('creates an object without its response', async () => {
    const pod = { metadata: { name: 'web' } };
    expect(await client().resource(pods, 'default').createOnly(pod)).toBeUndefined();
    expect(server.get(`${podsPath}/web`)).toMatchObject(pod);
  });
});
