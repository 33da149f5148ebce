/** Connections of a complete server through the proxies of its egress selector. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialect } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConnectProxy } from '../../../../libs/component/src/testing/connect-proxy.js';
import { HookServer } from '../testing/hook-server.js';
import { RunningServer } from '../testing/running-server.js';

const directory = mkdtempSync(join(tmpdir(), 'orch-egress-'));
let server: RunningServer;
let cluster: ConnectProxy;
let controlPlane: ConnectProxy;
let hooks: HookServer;
/** In place of the agent of a node. */
let agent: HookServer;
let backend: Server;

const portOf = (listening: Server) => (listening.address() as AddressInfo).port;

beforeAll(async () => {
  const socket = join(directory, 'proxy.sock');
  cluster = await ConnectProxy.listen(socket);
  controlPlane = await ConnectProxy.listen();
  hooks = await HookServer.start(['wares.default.svc']);
  agent = await HookServer.start();
  agent.answers.set('/healthz', (_review, response) => {
    response.end('ok');
  });
  backend = createServer((_request, response) => response.end('from the node')).listen(0);
  await once(backend, 'listening');
  const file = join(directory, 'egress.yaml');
  writeFileSync(
    file,
    `apiVersion: ${dialect().apiVersion('apiserver', 'v1beta1')}
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: ${socket}}}}
- name: controlplane
  connection:
    proxyProtocol: HTTPConnect
    transport: {tcp: {url: "http://127.0.0.1:${controlPlane.port}"}}
`,
  );
  server = await RunningServer.start([
    `--egress-selector-config-file=${file}`,
    '--enable-aggregator-routing=true',
  ]);
  const address = { type: 'InternalIP', address: '127.0.0.1' };
  await server.must('POST', '/api/v1/nodes', {
    metadata: { name: 'n' },
    status: {
      addresses: [address],
      daemonEndpoints: { kubeletEndpoint: { Port: agent.port } },
    },
  });
}, 30_000);

afterAll(async () => {
  await server.stop();
  await Promise.all([cluster.close(), controlPlane.close()]);
  hooks.stop();
  agent.stop();
  backend.close();
  rmSync(directory, { recursive: true, force: true });
});

async function register(name: string, clientConfig: object): Promise<void> {
  const group = dialect().apiVersion('admissionregistration', 'v1');
  await server.must('POST', `/apis/${group}/validatingwebhookconfigurations`, {
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig,
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['configmaps'],
          },
        ],
        objectSelector: { matchLabels: { hook: name } },
        ...{ sideEffects: 'None', admissionReviewVersions: ['v1'] },
      },
    ],
  });
}

/** Creates config maps until one is reviewed. */
async function review(name: string): Promise<void> {
  let count = 0;
  await expect
    .poll(async () => {
      count += 1;
      await server.must('POST', '/api/v1/namespaces/default/configmaps', {
        metadata: { name: `${name}-${count}`, labels: { hook: name } },
      });
      return hooks.calls.filter(({ path }) => path === `/${name}`).length;
    })
    .toBeGreaterThan(0);
}

describe('the egress selector', () => {
  it('opens connections to nodes through the proxy of the cluster', async () => {
    const path = `/api/v1/nodes/n:${portOf(backend)}/proxy/`;
    const response = await server.call('GET', path);
    expect(response.text).toBe('from the node');
    expect(cluster.targets).toContain(`127.0.0.1:${portOf(backend)}`);
    cluster.statusCode = 502;
    expect((await server.call('GET', path)).text).toContain('status 502 Refused');
    cluster.statusCode = 200;
  });

  it('opens connections to the agent of a node through the proxy of the cluster', async () => {
    expect((await server.call('GET', '/api/v1/nodes/n/proxy/healthz')).code).toBe(200);
    expect(agent.calls.map(({ path }) => path)).toEqual(['/healthz']);
    expect(cluster.targets).toContain(`127.0.0.1:${agent.port}`);
  });

  it('calls webhooks with a URL through the proxy of the control plane', async () => {
    await register('url', hooks.at('/url'));
    await review('url');
    expect(controlPlane.targets).toContain(`127.0.0.1:${hooks.port}`);
    expect(cluster.targets).not.toContain(`127.0.0.1:${hooks.port}`);
  });

  it('calls webhooks and aggregated servers of services through the proxy of the cluster', async () => {
    const ports = [{ port: 443, targetPort: hooks.port }];
    const metadata = { name: 'wares' };
    await server.must('POST', '/api/v1/namespaces/default/services', { metadata, spec: { ports } });
    await server.must('POST', '/api/v1/namespaces/default/endpoints', {
      metadata,
      subsets: [{ addresses: [{ ip: '10.99.99.99' }], ports: [{ port: hooks.port }] }],
    });
    const service = { namespace: 'default', name: 'wares' };
    const group = dialect().apiVersion('apiregistration', 'v1');
    await server.must('POST', `/apis/${group}/apiservices`, {
      metadata: { name: 'v1.wares.example.com' },
      spec: {
        ...{ group: 'wares.example.com', version: 'v1', service, caBundle: hooks.caBundle },
        ...{ groupPriorityMinimum: 100, versionPriority: 10 },
      },
    });
    const target = `10.99.99.99:${hooks.port}`;
    cluster.statusCode = 502;
    await expect.poll(() => cluster.targets).toContain(target);
    cluster.targets.length = 0;
    await register('service', {
      service: { ...service, path: '/service' },
      caBundle: hooks.caBundle,
    });
    await expect
      .poll(async () => {
        const response = await server.call('POST', '/api/v1/namespaces/default/configmaps', {
          body: { metadata: { generateName: 'a-', labels: { hook: 'service' } } },
        });
        return response.text;
      })
      .toContain('status 502 Refused');
    expect(cluster.targets).toContain(target);
  });

  it('counts and measures the connections', async () => {
    const { text } = await server.call('GET', '/metrics');
    expect(text).toMatch(
      /^apiserver_egress_dialer_dial_duration_seconds_count\{protocol="http_connect",transport="uds"\} [1-9]/m,
    );
    expect(text).toMatch(
      /^apiserver_egress_dialer_dial_failure_count\{protocol="http_connect",stage="proxy",transport="uds"\} [1-9]/m,
    );
  });
});
