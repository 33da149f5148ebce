/**
 * A machine joins a cluster of `up` with nothing but a bootstrap token and the authority of the
 * cluster: it gets a certificate, runs a pod, and renews the certificate without a restart.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from './support/cluster.js';
import { type Driver, driverFor } from './support/driver.js';
import { endProcess, repositoryRoot } from './support/process.js';
import { eventually } from './support/wait.js';

const nodeName = 'joined';
const lifetimeSeconds = 20;
const token = { id: 'abc123', secret: '0123456789abcdef' };

const cluster = new Cluster({
  dialect: 'orch',
  replicas: 1,
  nodes: 1,
  extraArgs: [`--component-arg=controller-manager=--cluster-signing-duration=${lifetimeSeconds}s`],
});
const directory = mkdtempSync(join(tmpdir(), 'orch-e2e-join-'));
const file = (...path: string[]) => join(directory, ...path);
const pem = file('node', 'pki', 'kubelet-client-current.pem');
let ctl: Driver;
let agent: ChildProcess | undefined;

const log = () => readFileSync(file('agent.log'), 'utf8');
const certificate = () => new X509Certificate(readFileSync(pem));

function writeBootstrapKubeconfig(secret: string): void {
  const authority = readFileSync(join(cluster.dataDirectory, 'ca.crt')).toString('base64');
  writeFileSync(
    file('bootstrap.kubeconfig'),
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'c', cluster: { server: cluster.url, 'certificate-authority-data': authority } },
      ],
      users: [{ name: 'u', user: { token: `${token.id}.${secret}` } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
}

async function startAgent(): Promise<void> {
  const output = openSync(file('agent.log'), 'a');
  agent = spawn(
    process.execPath,
    [
      'dist/apps/node-agent/src/main.js',
      `--bootstrap-kubeconfig=${file('bootstrap.kubeconfig')}`,
      `--kubeconfig=${file('kubeconfig')}`,
      '--rotate-certificates',
      '--rotate-server-certificates',
      `--node-name=${nodeName}`,
      `--root-dir=${file('node')}`,
      `--cluster-name=${nodeName}-${process.pid}`,
      `--pod-cidr=10.215.${process.pid % 256}.0/24`,
      '--node-ip=127.0.0.1',
      '--address=127.0.0.1',
      '--port=0',
      '--teardown-on-stop',
    ],
    { cwd: repositoryRoot, stdio: ['ignore', output, output] },
  );
}

async function stopAgent(): Promise<void> {
  const child = agent;
  agent = undefined;
  await endProcess(child);
}

async function requests(jsonPath: string): Promise<string> {
  return ctl.must('get', 'csr', '-o', `jsonpath=${jsonPath}`);
}

beforeAll(async () => {
  await cluster.up();
  ctl = driverFor(cluster, 'orchctl');
  const manifest = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${token.id}`, namespace: 'orch-system' },
    type: 'bootstrap.orch.io/token',
    stringData: {
      'token-id': token.id,
      'token-secret': token.secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      expiration: new Date(Date.now() + 3_600_000).toISOString(),
    },
  };
  await ctl.pipe(JSON.stringify(manifest), 'apply', '-f', '-');
});
afterAll(async () => {
  await stopAgent();
  await cluster.destroy();
  rmSync(directory, { recursive: true, force: true });
});

describe('a machine with a bootstrap token', () => {
  it('does not join with a wrong token', async () => {
    writeBootstrapKubeconfig('ffffffffffffffff');
    await startAgent();
    await eventually('the rejection', async () => log().includes('Unauthorized'));
    await stopAgent();
    expect(existsSync(file('kubeconfig'))).toBe(false);
    expect(await requests('{.items[*].metadata.name}')).toBe('');
  });

  it('joins, with a certificate of its own and a private key', async () => {
    writeBootstrapKubeconfig(token.secret);
    await startAgent();
    await eventually('the node', async () => {
      const { stdout } = await ctl.try('get', 'node', nodeName);
      return / Ready /.test(stdout);
    });
    expect(certificate().subject).toBe(`O=system:nodes\nCN=system:node:${nodeName}`);
    expect(statSync(pem).mode & 0o777).toBe(0o600);
    expect(statSync(file('kubeconfig')).mode & 0o777).toBe(0o600);
    expect(readFileSync(file('kubeconfig'), 'utf8')).not.toContain(token.secret);
    expect(readdirSync(file('node', 'pki'))).not.toContain('kubelet-client.key.tmp');
    expect(await requests('{.items[*].status.conditions[*].message}')).toContain(
      'Auto approving kubelet client certificate after SubjectAccessReview.',
    );
    expect(log()).not.toContain(token.secret);
  });

  it('runs a pod', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'there' },
      spec: {
        nodeName,
        containers: [{ name: 'a', image: 'a', command: ['sleep', '600'] }],
      },
    };
    await ctl.pipe(JSON.stringify(pod), 'apply', '-f', '-');
    await ctl.must('wait', '--for=condition=Ready', 'pod/there', '--timeout=60s');
  });

  it('renews its certificate before it expires, and works on without a restart', async () => {
    const first = certificate();
    const pid = agent?.pid;
    await eventually(
      'two renewals',
      async () => (log().match(/certificate renewed/g) ?? []).length >= 2,
      90_000,
    );
    expect(certificate().serialNumber).not.toBe(first.serialNumber);
    expect(await requests('{.items[*].status.conditions[*].message}')).toContain(
      'Auto approving self kubelet client certificate after SubjectAccessReview.',
    );
    await eventually('the first certificate has expired', async () => {
      return Date.now() > Date.parse(first.validTo) + 2_000;
    });
    // The agent still writes: a deleted pod is gone only when the agent has confirmed it.
    await ctl.must('delete', 'pod', 'there', '--timeout=60s');
    expect(agent?.pid).toBe(pid);
    expect(agent?.exitCode).toBeNull();
  });

  it('serves with a certificate that an administrator approved', async () => {
    const path = '{.items[?(@.spec.signerName=="orch.io/kubelet-serving")].metadata.name}';
    const [name = ''] = await eventually('the request', async () => {
      const names = (await requests(path)).split(' ').filter(Boolean);
      return names.length > 0 && names;
    });
    await ctl.must('certificate', 'approve', name);
    const serving = file('node', 'pki', 'kubelet-server-current.pem');
    await eventually('the certificate', async () => existsSync(serving));
    const approved = new X509Certificate(readFileSync(serving));
    expect(approved.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(approved.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });
});
