/** The audit log of a complete server: in a file, and posted to a webhook. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { codecFor, wrapUnknown } from '@orch/apimachinery';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RunningServer, type ServerResponse } from './testing/running-server.js';

type AuditEvent = ServerResponse['body'];

const directory = mkdtempSync(join(tmpdir(), 'orch-audit-'));
const logFile = join(directory, 'log', 'audit.log');
const inDefault = '/api/v1/namespaces/default';

const policy = join(directory, 'policy.yaml');
writeFileSync(
  policy,
  `apiVersion: audit.orch.io/v1
kind: Policy
rules:
- level: None
  nonResourceURLs: [/healthz*]
- level: Metadata
  resources: [{resources: [secrets]}]
- level: RequestResponse
  resources: [{resources: [configmaps]}]
- level: Request
  omitStages: [RequestReceived]
`,
);

function kubeconfigFor(url: string): string {
  const path = join(directory, 'webhook.yaml');
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [{ name: 'sink', cluster: { server: url } }],
      users: [{ name: 'server', user: { token: 'of-the-server' } }],
      contexts: [{ name: 'sink', context: { cluster: 'sink', user: 'server' } }],
      'current-context': 'sink',
    }),
  );
  return path;
}

function written(): AuditEvent[] {
  const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

/** The events of a request, which may be written after its response. */
function eventsOf(auditID: unknown, stage = 'ResponseComplete'): Promise<AuditEvent[]> {
  return vi.waitFor(
    () => {
      const events = written().filter((event) => event.auditID === auditID);
      expect(events.at(-1)?.stage).toBe(stage);
      return events;
    },
    { timeout: 10_000 },
  );
}

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the audit log', () => {
  let server: RunningServer;
  let sink: Server;
  const posted: { authorization: string | undefined; body: AuditEvent }[] = [];
  let refusalCount = 0;

  beforeAll(async () => {
    sink = createServer(async (request, response) => {
      const body = JSON.parse(await text(request));
      // The first batch must be retried.
      if (refusalCount++ === 0) return response.writeHead(503).end();
      posted.push({ authorization: request.headers.authorization, body });
      return response.end();
    }).listen(0, '127.0.0.1');
    await once(sink, 'listening');
    const { port } = sink.address() as AddressInfo;
    server = await RunningServer.start([
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${logFile}`,
      `--audit-webhook-config-file=${kubeconfigFor(`http://127.0.0.1:${port}/events`)}`,
      '--audit-webhook-initial-backoff=1ms',
      '--audit-webhook-batch-max-wait=10ms',
    ]);
  }, 30_000);

  afterAll(async () => {
    await server.stop();
    sink.close();
  });

  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => {
    const response = await server.call(method, path, {
      body,
      headers: { 'audit-id': `${method} ${path}`, ...headers },
    });
    return { response, id: response.headers['audit-id'] };
  };

  it('records a create at both stages, with both objects', async () => {
    const sent = { metadata: { name: 'told' }, data: { a: '1' } };
    const { response, id } = await send('POST', `${inDefault}/configmaps?dryRun=All`, sent, {
      'audit-id': 'mine',
      'user-agent': 'spec/1',
      'x-forwarded-for': '192.0.2.1, 192.0.2.2',
    });
    expect(id).toBe('mine');
    const [received, complete, ...others] = await eventsOf('mine');
    expect(others).toEqual([]);
    expect(received).toEqual({
      kind: 'Event',
      apiVersion: 'audit.orch.io/v1',
      level: 'RequestResponse',
      auditID: 'mine',
      stage: 'RequestReceived',
      requestURI: `${inDefault}/configmaps?dryRun=All`,
      verb: 'create',
      user: { username: 'admin', uid: '1', groups: ['system:masters', 'system:authenticated'] },
      sourceIPs: ['192.0.2.1', '192.0.2.2', '127.0.0.1'],
      userAgent: 'spec/1',
      objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
      requestReceivedTimestamp: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
      stageTimestamp: expect.stringMatching(/Z$/),
    });
    expect(complete).toEqual({
      ...received,
      stage: 'ResponseComplete',
      objectRef: { ...received.objectRef, name: 'told' },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: sent,
      responseObject: response.body,
      stageTimestamp: expect.any(String),
      annotations: {
        'authorization.orch.io/decision': 'allow',
        'authorization.orch.io/reason': '',
      },
    });
  });

  it('records protobuf and indented bodies as JSON', async () => {
    const codec = codecFor<object>('core/v1.ConfigMap');
    const sent = { metadata: { name: 'binary' }, data: { b: '2' } };
    const response = await server.call('POST', `${inDefault}/configmaps?pretty=1`, {
      body: wrapUnknown('v1', 'ConfigMap', codec.toProtobuf(codec.fromJson(sent))),
      headers: {
        'content-type': 'application/vnd.orch.protobuf',
        accept: 'application/vnd.orch.protobuf',
      },
    });
    const events = await eventsOf(response.headers['audit-id']);
    expect(events.at(-1)).toMatchObject({ requestObject: sent, responseObject: sent });
    const list = await send('GET', `${inDefault}/configmaps?pretty=1`);
    expect((await eventsOf(list.id)).at(-1).responseObject).toEqual(list.response.body);
  });

  it('omits everything above the level of the policy', async () => {
    const value = Buffer.from('do not tell').toString('base64');
    const body = { metadata: { name: 'hidden' }, data: { value } };
    const made = await send('POST', `${inDefault}/secrets`, body);
    expect((await eventsOf(made.id)).at(-1)).toMatchObject({
      level: 'Metadata',
      objectRef: { name: 'hidden', resource: 'secrets' },
    });
    for (const method of ['GET', 'DELETE']) {
      await eventsOf((await send(method, `${inDefault}/secrets/hidden`)).id);
    }
    const log = readFileSync(logFile, 'utf8');
    expect(log).not.toContain(value);
    expect(JSON.stringify(posted)).not.toContain(value);
    // Level Request: without the response object.
    const { id } = await send('POST', `${inDefault}/serviceaccounts`, { metadata: { name: 'sa' } });
    const [only, ...others] = await eventsOf(id);
    expect(others).toEqual([]);
    expect(only.requestObject).toEqual({ metadata: { name: 'sa' } });
    expect(only).not.toHaveProperty('responseObject');
  });

  it('records the status of failed requests, also of unauthenticated ones', async () => {
    const missing = await send('GET', `${inDefault}/pods/none`);
    expect((await eventsOf(missing.id)).at(-1).responseStatus).toEqual({
      metadata: {},
      status: 'Failure',
      reason: 'NotFound',
      code: 404,
    });
    const unauthenticated = await send('GET', `${inDefault}/pods`, undefined, {
      authorization: 'Bearer x',
    });
    const events = await eventsOf(unauthenticated.id, 'ResponseStarted');
    expect(events).toMatchObject([{ user: {}, responseStatus: { code: 401 } }]);
    const anonymous = await send('GET', `${inDefault}/pods`, undefined, { authorization: '' });
    expect((await eventsOf(anonymous.id)).at(-1)).toMatchObject({
      user: { username: 'system:anonymous' },
      annotations: { 'authorization.orch.io/decision': 'forbid' },
      responseStatus: { code: 403, reason: 'Forbidden' },
    });
  });

  it('records the begin and the end of a watch', async () => {
    const { id } = await send('GET', `${inDefault}/pods?watch=1&timeoutSeconds=1`);
    const stages = (await eventsOf(id)).map(({ stage, verb }) => [stage, verb]);
    expect(stages).toEqual([
      ['ResponseStarted', 'watch'],
      ['ResponseComplete', 'watch'],
    ]);
  });

  it('annotates requests to deprecated versions', async () => {
    const { id } = await send('GET', '/apis/extensions/v1beta1/ingresses');
    expect((await eventsOf(id)).at(-1).annotations).toMatchObject({
      'orch.io/deprecated': 'true',
      'orch.io/removed-release': '1.22',
    });
  });

  it('omits events at level None, and counts events by level', async () => {
    const before = written().length;
    const { id } = await send('GET', '/healthz');
    expect(id).toBeUndefined();
    const { text: metrics } = await server.call('GET', '/metrics');
    expect(
      written()
        .slice(before)
        .map(({ requestURI }) => requestURI),
    ).not.toContain('/healthz');
    expect(metrics).toMatch(/^apiserver_audit_event_total [1-9]/m);
    expect(metrics).toMatch(/^apiserver_audit_level_total\{level="None"\} [1-9]/m);
    expect(metrics).toMatch(/^apiserver_audit_level_total\{level="Metadata"\} [1-9]/m);
    expect(metrics).not.toMatch(/^apiserver_audit_error_total\{/m);
  });

  it('is posted to the webhook too, and retried when the webhook fails', async () => {
    const { id } = await send('GET', `${inDefault}/pods`);
    const ids = () =>
      posted.flatMap(({ body }) => body.items.map((item: AuditEvent) => item.auditID));
    await vi.waitFor(() => expect(ids()).toContain(id), { timeout: 10_000 });
    expect(ids()).toContain('mine');
    expect(refusalCount).toBeGreaterThan(1);
    expect(posted[0]).toMatchObject({
      authorization: 'Bearer of-the-server',
      body: { kind: 'EventList', apiVersion: 'audit.orch.io/v1', metadata: {} },
    });
  });
});

describe('an audit log that cannot be written', () => {
  const start = (mode: string) =>
    RunningServer.start([
      `--audit-policy-file=${policy}`,
      '--audit-log-path=/dev/full',
      `--audit-log-mode=${mode}`,
    ]);

  beforeAll(() => {
    writeFileSync(
      policy,
      'apiVersion: audit.orch.io/v1\nkind: Policy\nrules:\n- level: None\n  nonResourceURLs: [/metrics]\n- level: Metadata\n',
    );
  });

  it.each([
    ['blocking', 200],
    ['batch', 200],
    ['blocking-strict', 500],
  ])('in mode %s responds to requests with %i', async (mode, code) => {
    const server = await start(mode);
    try {
      const response = await server.call('GET', `${inDefault}/pods`);
      expect(response.code).toBe(code);
      if (code === 500) expect(response.body.message).toContain('failed to store audit event');
      await vi.waitFor(
        async () => {
          const { text: metrics } = await server.call('GET', '/metrics');
          expect(metrics).toMatch(/^apiserver_audit_error_total\{plugin="log"\} [1-9]/m);
          const rejected = code === 500 ? 1 : 0;
          expect(metrics).toContain(`apiserver_audit_requests_rejected_total ${rejected}\n`);
        },
        { timeout: 10_000 },
      );
    } finally {
      await server.stop();
    }
  });
});
