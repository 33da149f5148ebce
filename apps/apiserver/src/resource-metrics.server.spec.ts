/** The usage of nodes and pods, as a complete server reads it from node agents. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, dialect, issueCertificate, systemClock } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const timestamp = '2021-06-01T00:00:10Z';
const validMs = 3_600_000;
const groupName = dialect().group('metrics');
const group = `/apis/${groupName}/v1beta1`;
const apiServices = `/apis/${dialect().apiVersion('apiregistration', 'v1')}/apiservices`;
const tableType = `application/json;as=Table;v=v1;g=${dialect().metaGroup}`;

const measured = (name: string, nanoCores: number | undefined, bytes: number) => ({
  name,
  cpu: { time: timestamp, ...(nanoCores !== undefined && { usageNanoCores: nanoCores }) },
  memory: { time: timestamp, workingSetBytes: bytes },
});

describe('resource metrics', () => {
  let dataDir: string;
  let server: RunningServer;
  let agent: Server;
  const requests: string[] = [];
  let pods: object[] = [];

  const startServer = () =>
    RunningServer.start(
      [
        '--enable-resource-metrics',
        '--kubelet-preferred-address-types=InternalIP',
        '--disable-admission-plugins=ServiceAccount',
      ],
      { dataDir },
    );

  async function createNode(name: string, port: number): Promise<void> {
    await server.must('POST', '/api/v1/nodes', {
      metadata: { name, labels: { disk: 'fast' } },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    });
  }

  async function createPod(name: string, phase = 'Running'): Promise<string> {
    const path = '/api/v1/namespaces/default/pods';
    const { metadata } = await server.must('POST', path, {
      metadata: { name, labels: { app: name } },
      spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'i' }] },
    });
    const body = JSON.stringify({ status: { phase } });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const options = { body: Buffer.from(body), headers };
    expect((await server.call('PATCH', `${path}/${name}/status`, options)).code).toBe(200);
    return metadata.uid;
  }

  beforeAll(async () => {
    const authority = await createAuthority('agents', validMs, systemClock);
    const pair = await issueCertificate(
      authority,
      { commonName: 'agent', hosts: ['127.0.0.1'], usages: ['server'], validMs },
      systemClock,
    );
    agent = createServer({ cert: pair.certificatePem, key: pair.keyPem }, (request, response) => {
      requests.push(request.url ?? '');
      response.end(JSON.stringify({ node: measured('', 1_500_000_000, 3 * 1024 ** 3), pods }));
    });
    agent.listen(0, '127.0.0.1');
    await once(agent, 'listening');
    dataDir = mkdtempSync(join(tmpdir(), 'orch-metrics-'));
    server = await startServer();
    await createNode('node-1', (agent.address() as AddressInfo).port);
    // Nothing listens on the discard port.
    await createNode('node-2', 9);
    const uid = await createPod('web');
    await createPod('done', 'Succeeded');
    await createPod('young');
    await createPod('again');
    const reference = (name: string, podUid: string) => ({
      podRef: { name, namespace: 'default', uid: podUid },
    });
    const main = measured('main', 250_000_000, 64 * 1024 ** 2);
    pods = [
      { ...reference('web', uid), containers: [main, measured('side', 1, 1025)] },
      { ...reference('young', 'any'), containers: [measured('main', undefined, 1)] },
      { ...reference('again', 'predecessor'), containers: [main] },
    ];
  }, 60_000);

  afterAll(async () => {
    await server.stop();
    agent.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('include the nodes whose agents respond, with one request to each', async () => {
    const list = await server.must('GET', `${group}/nodes`);
    expect(list).toMatchObject({ kind: 'NodeMetricsList', apiVersion: `${groupName}/v1beta1` });
    expect(list.items).toEqual([
      {
        metadata: { name: 'node-1', creationTimestamp: timestamp, labels: expect.anything() },
        timestamp,
        window: '10s',
        usage: { cpu: '1500m', memory: '3Gi' },
      },
    ]);
    await server.must('GET', `${group}/nodes/node-1`);
    expect(requests).toEqual(['/stats/summary?only_cpu_and_memory=true']);
  });

  it('include the running pods that are measured, with their containers', async () => {
    const list = await server.must('GET', `${group}/pods`);
    expect(list.items).toEqual([
      {
        metadata: {
          name: 'web',
          namespace: 'default',
          creationTimestamp: timestamp,
          labels: { app: 'web' },
        },
        timestamp,
        window: '10s',
        containers: [
          { name: 'main', usage: { cpu: '250m', memory: '64Mi' } },
          { name: 'side', usage: { cpu: '1n', memory: '1025' } },
        ],
      },
    ]);
  });

  it('are selected by namespace, label and name', async () => {
    const namesIn = async (path: string) =>
      (await server.must('GET', `${group}/${path}`)).items.map(
        ({ metadata }: { metadata: { name: string } }) => metadata.name,
      );
    expect(await namesIn('namespaces/default/pods?labelSelector=app%3Dweb')).toEqual(['web']);
    expect(await namesIn('namespaces/default/pods?labelSelector=app%21%3Dweb')).toEqual([]);
    expect(await namesIn('namespaces/other/pods')).toEqual([]);
    expect(await namesIn('pods?fieldSelector=metadata.name%3Dweb')).toEqual(['web']);
    expect(await namesIn('nodes?labelSelector=disk%3Dfast')).toEqual(['node-1']);
  });

  it('are missing for pods without figures', async () => {
    for (const name of ['done', 'young', 'again', 'nothing']) {
      const response = await server.call('GET', `${group}/namespaces/default/pods/${name}`);
      expect(response.code).toBe(404);
      expect(response.body.message).toBe(`podmetrics.${groupName} "default/${name}" not found`);
    }
  });

  it.each([
    ['DELETE', 'nodes/node-1'],
    ['GET', 'nodes?watch=1'],
    ['POST', 'namespaces/default/pods'],
  ])('are read only: %s %s', async (method, path) => {
    expect((await server.call(method, `${group}/${path}`)).code).toBe(405);
  });

  it('are described by discovery, OpenAPI and tables', async () => {
    const { resources } = await server.must('GET', group);
    expect(resources).toEqual([
      {
        name: 'nodes',
        singularName: '',
        namespaced: false,
        kind: 'NodeMetrics',
        verbs: ['get', 'list'],
      },
      {
        name: 'pods',
        singularName: '',
        namespaced: true,
        kind: 'PodMetrics',
        verbs: ['get', 'list'],
      },
    ]);
    const { definitions } = await server.must('GET', '/openapi/v2');
    const name = `${dialect().openapiPrefix}metrics.pkg.apis.metrics.v1beta1.PodMetrics`;
    expect(definitions[name].required).toEqual(['containers', 'timestamp', 'window']);
    const headers = { accept: tableType };
    const table = await server.call('GET', `${group}/pods`, { headers });
    expect(table.body.rows[0].cells).toEqual(['web', '250000001n', '67109889', '10s']);
  });

  it('give way to another server, also after a restart, and return without it', async () => {
    const name = `v1beta1.${groupName}`;
    const registration = await server.must('GET', `${apiServices}/${name}`);
    expect(registration.spec).toEqual({
      group: groupName,
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
    });
    const service = { namespace: 'default', name: 'metrics-server', port: 443 };
    registration.spec = { ...registration.spec, service, insecureSkipTLSVerify: true };
    await server.must('PUT', `${apiServices}/${name}`, registration);
    const until = (code: number) =>
      vi.waitFor(async () => expect((await server.call('GET', `${group}/nodes`)).code).toBe(code), {
        timeout: 20_000,
        interval: 100,
      });
    await until(503);
    await server.stop();
    server = await startServer();
    await until(503);
    const kept = await server.must('GET', `${apiServices}/${name}`);
    expect(kept.spec.service).toEqual(service);
    await server.must('DELETE', `${apiServices}/${name}`);
    await until(200);
  }, 60_000);

  it('may be read by everyone who may view a namespace', async () => {
    const rbac = `/apis/${dialect().apiVersion('rbac.authorization', 'v1')}`;
    const role = await server.must('GET', `${rbac}/clusterroles/system:aggregated-metrics-reader`);
    expect(role.rules[0].apiGroups).toEqual([groupName]);
    expect(role.metadata.labels[`${dialect().group('rbac.authorization')}/aggregate-to-view`]).toBe(
      'true',
    );
  });
});
