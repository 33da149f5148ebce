/** The proxy behind which the controller manager runs in the behaviour stage finds private uses. */
import { createServer, type Server, request as send } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, issueCertificate, systemClock } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PublicInterfaceProxy } from '../conformance/public-interface.mjs';

const entry = (name: string, namespaced: boolean, ...verbs: string[]) => ({
  ...{ name, namespaced, verbs },
});
const documents: Record<string, object> = {
  '/api/v1': {
    resources: [
      entry('pods', true, 'create', 'get', 'list', 'watch'),
      entry('pods/status', true, 'get', 'patch'),
      entry('namespaces', false, 'get', 'delete'),
      entry('namespaces/finalize', false, 'update'),
      entry('nodes', false, 'get', 'list'),
    ],
  },
};

describe('PublicInterfaceProxy', () => {
  let server: Server;
  let proxy: PublicInterfaceProxy;

  beforeAll(async () => {
    const authority = await createAuthority('test', 3_600_000, systemClock);
    const serving = { commonName: 'localhost', hosts: ['127.0.0.1'], validMs: 3_600_000 };
    const pair = await issueCertificate(authority, { ...serving, usages: ['server'] }, systemClock);
    const tls = { cert: pair.certificatePem, key: pair.keyPem };
    server = createServer(tls, (request, response) => {
      const path = request.url?.split('?')[0] ?? '';
      const isUnknownGroup = path.startsWith('/apis/');
      response.writeHead(isUnknownGroup ? 404 : 200);
      response.end(JSON.stringify(documents[path] ?? {}));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    proxy = new PublicInterfaceProxy({ url: `https://127.0.0.1:${port}`, token: 't', pair });
    await proxy.start();
  });
  afterAll(async () => {
    await proxy.stop();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  function statusOf(method: string, path: string, headers: Record<string, string> = {}) {
    return new Promise<number>((resolve, reject) => {
      send(
        `${proxy.url}${path}`,
        {
          method,
          agent: false,
          rejectUnauthorized: false,
          headers: { accept: 'application/json', ...headers },
        },
        (response) => {
          response.resume();
          response.once('end', () => resolve(response.statusCode ?? 0));
        },
      )
        .once('error', reject)
        .end();
    });
  }

  it.each([
    ['GET', '/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=5'],
    ['GET', '/api/v1/namespaces/default/pods?labelSelector=a%3Db&limit=500'],
    ['POST', '/api/v1/namespaces/default/pods?fieldManager=m'],
    ['PATCH', '/api/v1/namespaces/default/pods/a/status'],
    ['GET', '/api/v1/namespaces/default'],
    ['PUT', '/api/v1/namespaces/default/finalize'],
    ['GET', '/api/v1/nodes/n'],
    ['GET', '/apis'],
    ['GET', '/healthz'],
  ])('passes on %s %s', async (method, path) => {
    expect(await statusOf(method, path)).toBe(200);
  });

  it('passes on requests to a group that is no longer served', async () => {
    const refusedCount = proxy.refused.size;
    expect(await statusOf('GET', '/apis/gone.example.com/v1/things')).toBe(404);
    expect(proxy.refused.size).toBe(refusedCount);
  });

  it.each([
    ['GET', '/internal/members'],
    ['POST', '/api/v1/bindings-of-everything'],
    ['DELETE', '/api/v1/namespaces/default/pods/a'],
    ['POST', '/api/v1/namespaces/default/pods/a/replace'],
    ['PATCH', '/api/v1/nodes/n'],
    ['GET', '/api/v1/namespaces/default/nodes/n'],
    ['POST', '/healthz'],
    ['GET', '/api/v1/pods?fromDisk=true'],
  ])('refuses %s %s, which the discovery does not have', async (method, path) => {
    const refusedCount = proxy.refused.size;
    expect(await statusOf(method, path)).toBe(404);
    expect(proxy.refused.size).toBe(refusedCount + 1);
  });

  it.each([
    ['x-orch-internal', '1'],
    ['accept', 'application/vnd.orch.private'],
  ])('refuses the header %s: %s', async (name, value) => {
    expect(await statusOf('GET', '/api/v1/pods', { [name]: value })).toBe(404);
  });
});
