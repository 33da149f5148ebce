/**
 * Compares `/metrics` of a running server, after requests of many kinds, with the recorded
 * fixtures: names, types, stability, labels and buckets. docs/metrics.md lists the metrics that are
 * not served.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as tcpConnect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  createAuthority,
  dialect,
  issueCertificate,
  type KeyPairPem,
  systemClock,
} from '@orch/component';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  differingMetrics,
  metricFacts,
  parseMetrics,
  type ServedMetric,
} from '../../../test/conformance/metric-facts.js';
import { RunningServer } from './testing/running-server.js';

const root = resolve(import.meta.dirname, '../../..');

/** The metrics that the docs list as left out. */
function leftOut(): string[] {
  const docs = readFileSync(join(root, 'docs/metrics.md'), 'utf8');
  const section = docs.split('\n## ').find((part) => part.startsWith('Left out'))!;
  return [...section.matchAll(/`([a-z]+_[a-z_0-9]+)`/g)].map((match) => match[1]!);
}

const directory = mkdtempSync(join(tmpdir(), 'orch-metrics-'));
const configMaps = '/api/v1/namespaces/default/configmaps';
let server: RunningServer;
let agent: Agent;
let clientPair: KeyPairPem;

async function start(): Promise<RunningServer> {
  const authority = await createAuthority('clients', 86_400_000, systemClock);
  const client = { commonName: 'me@example.org', usages: ['client' as const], validMs: 7_000_000 };
  clientPair = await issueCertificate(authority, client, systemClock);
  const authorityFile = join(directory, 'clients.crt');
  writeFileSync(authorityFile, authority.certificatePem);
  const flags = [`--client-ca-file=${authorityFile}`, '--anonymous-auth=false'];
  const running = await RunningServer.start(flags, { users: ['client'] });
  await running.grantEverything(['client']);
  return running;
}

interface SendOptions {
  readonly body?: unknown;
  readonly type?: string;
  /** Empty: no token. */
  readonly token?: string;
  readonly dispatcher?: Agent;
}

function send(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  options: SendOptions = {},
) {
  const { body, type = 'application/json', token = 'secret', dispatcher = agent } = options;
  return request(`https://127.0.0.1:${server.port}${path}`, {
    method,
    dispatcher,
    headers: { 'content-type': type, ...(token !== '' && { authorization: `Bearer ${token}` }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

async function call(...args: Parameters<typeof send>): Promise<{ code: number; text: string }> {
  const { statusCode, body } = await send(...args);
  return { code: statusCode, text: await body.text() };
}

const named = (name: string) => ({ metadata: { name }, data: { a: '1' } });

async function scrape(): Promise<string> {
  return (await call('GET', '/metrics')).text;
}

/** Sends concurrent writes of a user with few seats until one of them is rejected. */
async function refuseOne(): Promise<void> {
  const group = `/apis/${dialect().group('flowcontrol.apiserver')}/v1beta1`;
  const limited = { assuredConcurrencyShares: 1, limitResponse: { type: 'Reject' } };
  await call('POST', `${group}/prioritylevelconfigurations`, {
    body: { metadata: { name: 'few' }, spec: { type: 'Limited', limited } },
  });
  const all = ['*'];
  const subjects = [{ kind: 'User', user: { name: 'client' } }];
  const resourceRules = [{ verbs: all, apiGroups: all, resources: all, namespaces: all }];
  await call('POST', `${group}/flowschemas`, {
    body: {
      metadata: { name: 'client' },
      spec: {
        priorityLevelConfiguration: { name: 'few' },
        matchingPrecedence: 50,
        rules: [{ subjects, resourceRules }],
      },
    },
  });
  for (let round = 0; ; round += 1) {
    const codes = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const body = named(`at-once-${round}-${index}`);
        return (await call('POST', configMaps, { body, token: 'client' })).code;
      }),
    );
    if (codes.includes(429)) return;
  }
}

async function useServiceAccount(): Promise<void> {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await call('POST', accounts, { body: { metadata: { name: 'builder' } } });
  const answer = await call('POST', `${accounts}/builder/token`, { body: { spec: {} } });
  const { token } = JSON.parse(answer.text).status;
  for (let use = 0; use < 2; use += 1) {
    expect((await call('GET', configMaps, { token })).code).toBe(403);
  }
}

async function watchOnce(): Promise<void> {
  const { body } = await send('GET', `${configMaps}?watch=1`);
  const [first] = await once(body, 'data');
  expect(String(first)).toContain('"ADDED"');
  expect(await scrape()).toMatch(/^apiserver_longrunning_gauge\{[^}]*verb="WATCH"[^}]*\} 1$/m);
  expect(await scrape()).toMatch(
    /^apiserver_registered_watchers\{[^}]*kind="ConfigMap"[^}]*\} 1$/m,
  );
  body.on('error', () => undefined);
  body.destroy();
}

async function traffic(): Promise<void> {
  expect((await call('POST', configMaps, { body: named('one') })).code).toBe(201);
  expect((await call('POST', `${configMaps}?dryRun=All`, { body: named('two') })).code).toBe(201);
  await call('GET', `${configMaps}/one`);
  await call('GET', configMaps);
  await call('PATCH', `${configMaps}/one?fieldManager=test`, {
    type: 'application/apply-patch+yaml',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { b: '2' } },
  });
  const elsewhere = '/api/v1/namespaces/missing/configmaps';
  expect((await call('POST', elsewhere, { body: named('one') })).code).toBe(404);
  expect((await call('DELETE', '/api/v1/namespaces/default')).code).toBe(403);
  await call('GET', `${configMaps}/none`);
  await call('GET', '/apis/coordination.orch.io/v1beta1/leases');
  for (let index = 0; index < 20; index += 1) {
    await call('GET', `${configMaps}/one/made-up-${index}`);
    await call('GET', `/api/v1/namespaces/default/made-up-${index}`);
  }
  await watchOnce();
  await refuseOne();
  await useServiceAccount();
  const withCertificate = new Agent({
    connect: {
      rejectUnauthorized: false,
      cert: clientPair.certificatePem,
      key: clientPair.keyPem,
    },
  });
  expect((await call('GET', configMaps, { token: '', dispatcher: withCertificate })).code).toBe(
    403,
  );
  await withCertificate.close();
  expect((await call('GET', configMaps, { token: '' })).code).toBe(401);
  expect((await call('GET', configMaps, { token: 'wrong' })).code).toBe(401);
  const plain = tcpConnect(server.port, '127.0.0.1');
  plain.end('this is no TLS\r\n\r\n');
  plain.resume();
  await once(plain, 'close');
}

describe('metrics of a running server', () => {
  let text: string;
  let served: ReadonlyMap<string, ServedMetric>;

  beforeAll(async () => {
    agent = new Agent({ connect: { rejectUnauthorized: false }, connections: 16 });
    server = await start();
    await traffic();
    const watchEnded = /^apiserver_request_total\{[^}]*verb="WATCH"[^}]*\} 1$/m;
    do text = await scrape();
    while (!watchEnded.test(text));
    served = parseMetrics(text);
  }, 60_000);

  afterAll(async () => {
    await agent.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('are the recorded ones, except the ones listed as left out', () => {
    const missing = Object.keys(metricFacts).filter((name) => !served.has(name));
    expect(missing.sort()).toEqual(leftOut().sort());
  });

  it('have the recorded types, stability, labels and buckets', () => {
    expect(differingMetrics(served)).toEqual({});
  });

  it('have samples, except for events that did not happen', () => {
    const silent = [...served].filter(([, { labels }]) => labels === undefined);
    expect(
      silent
        .map(([name]) => name)
        .filter((name) => name in metricFacts)
        .sort(),
    ).toEqual([
      'aggregator_unavailable_apiservice_total',
      'apiserver_admission_webhook_admission_duration_seconds',
      'apiserver_admission_webhook_rejection_count',
      'apiserver_audit_error_total',
      'apiserver_crd_webhook_conversion_duration_seconds',
      'apiserver_egress_dialer_dial_duration_seconds',
      'apiserver_egress_dialer_dial_failure_count',
      'apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds',
      'apiserver_request_aborts_total',
      'apiserver_storage_transformation_duration_seconds',
      'apiserver_storage_transformation_operations_total',
      'apiserver_terminated_watchers_total',
      'node_authorizer_graph_actions_duration_seconds',
    ]);
  });

  const configMap = 'group="",version="v1",resource="configmaps",subresource=""';
  it.each([
    [
      `apiserver_request_total{${configMap},scope="namespace",verb="POST",code="201",component="apiserver",dry_run="All"}`,
      1,
    ],
    [
      `apiserver_request_total{${configMap},scope="resource",verb="APPLY",code="200",component="apiserver",dry_run=""}`,
      1,
    ],
    [
      `apiserver_request_total{${configMap},scope="namespace",verb="WATCH",code="200",component="apiserver",dry_run=""}`,
      1,
    ],
    [
      `apiserver_request_total{${configMap},scope="resource",verb="GET",code="404",component="apiserver",dry_run=""}`,
      21,
    ],
    [
      `apiserver_longrunning_gauge{${configMap},scope="namespace",verb="WATCH",component="apiserver"}`,
      0,
    ],
    ['apiserver_registered_watchers{group="",kind="ConfigMap",version="v1"}', 0],
    ['apiserver_watch_events_total{group="",kind="ConfigMap",version="v1"}', 1],
    ['apiserver_init_events_total{resource="*core.ConfigMap"}', 1],
    ['apiserver_tls_handshake_errors_total', 1],
    ['apiserver_client_certificate_expiration_seconds_bucket{le="7200"}', 1],
    ['apiserver_client_certificate_expiration_seconds_bucket{le="3600"}', 0],
    [
      'apiserver_admission_controller_admission_duration_seconds_count{operation="CREATE",rejected="false",name="NamespaceLifecycle",type="admit"}',
      undefined,
    ],
    [
      'apiserver_admission_controller_admission_duration_seconds_count{operation="CREATE",rejected="true",name="NamespaceLifecycle",type="admit"}',
      1,
    ],
    [
      'apiserver_admission_step_admission_duration_seconds_summary_count{operation="DELETE",rejected="true",type="validate"}',
      1,
    ],
    ['authenticated_user_requests{username="email_id"}', 1],
    ['authenticated_user_requests{username="other"}', 2],
    ['authentication_attempts{result="error"}', 1],
    ['authentication_attempts{result="failure"}', 1],
    ['authentication_token_cache_request_total{status="hit"}', 1],
    ['serviceaccount_valid_tokens_total', 2],
    ['etcd_request_duration_seconds_count{operation="get",type="*core.ConfigMap"}', undefined],
    ['etcd_request_duration_seconds_count{operation="create",type="*core.ServiceAccount"}', 1],
    ['etcd_object_counts{resource="serviceaccounts"}', 1],
  ])('count %s', (series, count) => {
    const line = text.split('\n').find((one) => one.startsWith(`${series} `));
    expect(line).toBeDefined();
    const value = Number(line?.slice(series.length));
    if (count === undefined) expect(value).toBeGreaterThan(0);
    else expect(value).toBe(count);
  });
});
