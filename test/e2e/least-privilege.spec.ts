/**
 * Permissions in a cluster of `up`: every component has its own identity and needs no more than the
 * roles bound to it, and a pod has only the permissions of its service account. The audit log of
 * the API server shows each denied request.
 */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster, helloManifest } from './support/cluster.js';
import { type Driver, driverFor } from './support/driver.js';
import { stockTool } from './support/kubectl.js';
import { run } from './support/process.js';
import { eventually } from './support/wait.js';

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code: number; readonly message?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

const directory = mkdtempSync(join(tmpdir(), 'orch-e2e-privilege-'));
const auditPath = join(directory, 'audit.log');
const policyPath = join(directory, 'policy.yaml');
writeFileSync(
  policyPath,
  'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n',
);

const cluster = new Cluster({
  dialect: 'kubernetes',
  replicas: 1,
  extraArgs: [
    `--component-arg=apiserver=--audit-policy-file=${policyPath}`,
    `--component-arg=apiserver=--audit-log-path=${auditPath}`,
    // As when several run: the manager renews its lease.
    '--component-arg=controller-manager=--leader-elect',
  ],
});
const file = (...path: string[]) => join(cluster.dataDirectory, ...path);
let ctl: Driver;

beforeAll(async () => {
  await cluster.up();
  ctl = driverFor(cluster, 'kubectl');
});
afterAll(async () => {
  await cluster.destroy();
  rmSync(directory, { recursive: true, force: true });
});

function auditEvents(): AuditEvent[] {
  const lines = readFileSync(auditPath, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as AuditEvent);
}

/** Runs kubectl with the kubeconfig of a component. */
function as(component: string, ...args: string[]) {
  return run(stockTool('kubectl'), [
    '--kubeconfig',
    file('components', `${component}.kubeconfig`),
    ...args,
  ]);
}

describe('the components', () => {
  it('need no more than their roles to deploy, scale, roll out, drain and delete', async () => {
    await ctl.must('apply', '-f', helloManifest);
    await ctl.must('rollout', 'status', 'deployment/hello', '--timeout=90s');
    await ctl.must('create', 'namespace', 'team');
    await ctl.must('create', 'quota', 'small', '-n', 'team', '--hard=pods=5,count/configmaps=5');
    await ctl.must('scale', 'deployment/hello', '--replicas=4');
    await ctl.must('rollout', 'status', 'deployment/hello', '--timeout=90s');
    await ctl.must('set', 'env', 'deployment/hello', 'VERSION=2');
    await ctl.must('rollout', 'status', 'deployment/hello', '--timeout=90s');
    expect(await ctl.must('logs', 'deployment/hello')).toContain('listening');
    expect(await ctl.must('exec', 'deployment/hello', '--', 'echo', 'inside')).toBe('inside\n');
    await ctl.must('get', '--raw', '/api/v1/nodes/node-1/proxy/stats/summary');
    await ctl.must('drain', 'node-2', '--force', '--timeout=90s');
    await ctl.must('uncordon', 'node-2');
    await ctl.must('delete', '-f', helloManifest);
    await ctl.must('wait', '--for=delete', 'pod', '-l', 'app=hello', '--timeout=60s');
    await ctl.must('delete', 'namespace', 'team', '--timeout=60s');
    const denied = auditEvents().filter(
      ({ responseStatus, requestURI, annotations = {} }) =>
        (responseStatus?.code === 401 || responseStatus?.code === 403) &&
        // Allowed, but refused by admission: the namespace ends.
        annotations['authorization.k8s.io/decision'] !== 'allow' &&
        // Probes before the initial roles exist.
        requestURI !== '/readyz',
    );
    expect(denied).toEqual([]);
  });

  it('write as the service account of each controller', () => {
    const writers = new Map<string, Set<string>>();
    for (const { verb, user, objectRef } of auditEvents()) {
      if (!objectRef || !['create', 'update', 'patch', 'delete'].includes(verb)) continue;
      const { resource, subresource } = objectRef;
      const key = `${verb} ${[resource, subresource].filter(Boolean).join('/')}`;
      writers.set(key, (writers.get(key) ?? new Set()).add(user.username));
    }
    const account = (name: string) => `system:serviceaccount:kube-system:${name}`;
    expect(writers.get('create replicasets')).toEqual(new Set([account('deployment-controller')]));
    expect(writers.get('create pods')).toEqual(new Set([account('replicaset-controller')]));
    expect(writers.get('update namespaces/finalize')).toEqual(
      new Set([account('namespace-controller')]),
    );
    expect(writers.get('update resourcequotas/status')).toEqual(
      new Set([account('resourcequota-controller')]),
    );
    expect(writers.get('create pods/binding')).toEqual(new Set(['system:kube-scheduler']));
    // The manager itself writes only its lease, and makes tokens.
    const ofManager = [...writers].filter(([, users]) =>
      users.has('system:kube-controller-manager'),
    );
    expect(ofManager.map(([key]) => key).sort()).toEqual([
      'create leases',
      'create secrets',
      'create serviceaccounts',
      'create serviceaccounts/token',
      'update leases',
      'update serviceaccounts',
    ]);
  });

  it('are no administrators', () => {
    const certificates = readdirSync(file('pki')).filter((name) => name.endsWith('.crt'));
    expect(certificates.length).toBeGreaterThan(7);
    for (const name of certificates) {
      const { subject } = new X509Certificate(readFileSync(file('pki', name)));
      expect(subject, name).not.toContain('system:masters');
    }
    const tokens = readFileSync(file('tokens.csv'), 'utf8').trim().split('\n');
    expect(tokens.map((line) => line.split(',')[1])).toEqual(['admin']);
  });

  it.each([
    [
      'scheduler',
      ['get', 'secrets', '-A'],
      'User "system:kube-scheduler" cannot list resource "secrets"',
    ],
    ['proxy', ['get', 'pods', '-A'], 'User "system:kube-proxy" cannot list resource "pods"'],
    ['controller-manager', ['create', 'namespace', 'x'], 'cannot create resource "namespaces"'],
    [
      'node-agent-1',
      ['get', 'secrets', '-A'],
      'User "system:node:node-1" cannot list resource "secrets"',
    ],
    ['node-agent-1', ['label', 'node', 'node-2', 'a=b'], 'is not allowed to modify node "node-2"'],
  ])('%s is denied: %j', async (component, args, message) => {
    const { code, stderr } = await as(component, ...args);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
});

describe('node agents', () => {
  async function statusFor(certificate: string): Promise<number> {
    const connect = {
      ca: readFileSync(file('ca.crt')),
      cert: readFileSync(file('pki', `${certificate}.crt`)),
      key: readFileSync(file('pki', `${certificate}.key`)),
    };
    const { addresses } = JSON.parse(readFileSync(file('cluster.json'), 'utf8'));
    const dispatcher = new Agent({ connect });
    const url = `https://127.0.0.1:${addresses.ports.nodes}/pods`;
    const { statusCode, body } = await request(url, { dispatcher });
    await body.dump();
    await dispatcher.close();
    return statusCode;
  }

  it('serve API servers and reject other components', async () => {
    expect(await statusFor('apiserver-client')).toBe(200);
    expect(await statusFor('scheduler')).toBe(403);
  });
});

describe('a pod', () => {
  /** Requests the path from inside the pod with its own token. */
  async function fromInside(path: string): Promise<{ code: number; message?: string }> {
    const script = `
      const { readFileSync } = require('node:fs');
      const directory = '/var/run/secrets/kubernetes.io/serviceaccount/';
      const token = readFileSync(directory + 'token', 'utf8');
      const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
      require('node:https').get({
        host, port, path: '${path}', ca: readFileSync(directory + 'ca.crt'),
        headers: { authorization: 'Bearer ' + token },
      }, (response) => {
        let text = '';
        response.on('data', (part) => { text += part; });
        response.on('end', () => {
          const { message } = JSON.parse(text);
          console.log(JSON.stringify({ code: response.statusCode, message }));
        });
      });`;
    return JSON.parse(await ctl.must('exec', 'client', '--', 'node', '-e', script));
  }

  beforeAll(async () => {
    const spec = { containers: [{ name: 'a', image: 'a', command: ['sleep', '600'] }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'client' }, spec };
    await eventually('the default service account', async () => {
      return (await ctl.try('get', 'serviceaccount', 'default')).code === 0;
    });
    await ctl.pipe(JSON.stringify(pod), 'apply', '-f', '-');
    await ctl.must('wait', '--for=condition=Ready', 'pod/client', '--timeout=60s');
  });

  it('may read discovery with its default token, and no object', async () => {
    expect((await fromInside('/api')).code).toBe(200);
    for (const resource of ['secrets', 'configmaps', 'pods', 'serviceaccounts']) {
      expect(await fromInside(`/api/v1/namespaces/default/${resource}`)).toEqual({
        code: 403,
        message: `${resource} is forbidden: User "system:serviceaccount:default:default" cannot list resource "${resource}" in API group "" in the namespace "default"`,
      });
    }
  });

  it('may do what a role binding grants to its account, and nothing else', async () => {
    await ctl.must('create', 'role', 'reader', '--verb=list', '--resource=configmaps');
    const account = '--serviceaccount=default:default';
    await ctl.must('create', 'rolebinding', 'reader', '--role=reader', account);
    const path = '/api/v1/namespaces/default';
    await eventually('the binding', async () => {
      return (await fromInside(`${path}/configmaps`)).code === 200;
    });
    expect((await fromInside(`${path}/secrets`)).code).toBe(403);
    expect((await fromInside('/api/v1/namespaces/kube-system/configmaps')).code).toBe(403);
  });
});
