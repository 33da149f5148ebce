/**
 * An aggregated API server of another library in a cluster of the `kubernetes` dialect: stock
 * kubectl uses its kind like a built-in one, and nothing else fails while the server is down.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueCertificate, systemClock } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from './support/cluster.js';
import { stockTool } from './support/kubectl.js';
import { type Outcome, repositoryRoot, run } from './support/process.js';
import { eventually } from './support/wait.js';

const validMs = 3_600_000;

function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  if (!found) throw new Error('this machine has no address besides loopback');
  return found.address;
}

describe('an aggregated API server', () => {
  const cluster = new Cluster({ dialect: 'kubernetes', replicas: 3, nodes: 1 });
  const host = ownAddress();
  let server: ChildProcess | undefined;
  let authorityPem: string;

  function kubectl(args: string, input?: string): Promise<Outcome> {
    const script = `set -o pipefail; kubectl() { "$KUBECTL" "$@"; }; ${args}`;
    const env = {
      KUBECTL: stockTool('kubectl'),
      KUBECONFIG: cluster.kubeconfig,
      HOME: cluster.dataDirectory,
    };
    return run('bash', ['-c', script], { env, ...(input !== undefined && { input }) });
  }

  async function must(args: string, input?: string): Promise<string> {
    const { code, stdout, stderr } = await kubectl(args, input);
    if (code !== 0) throw new Error(`${args} ended with ${code}\n${stdout}\n${stderr}`);
    return stdout;
  }

  async function startServer(): Promise<number> {
    const authority = await createAuthority('wares-authority', validMs, systemClock);
    const request = { commonName: 'wares', hosts: ['wares.default.svc'], validMs };
    const pair = await issueCertificate(authority, { ...request, usages: ['server'] }, systemClock);
    authorityPem = authority.certificatePem;
    const file = (name: string, content: string) => {
      const path = join(cluster.dataDirectory, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    };
    const published = await must(
      "kubectl get configmap extension-apiserver-authentication -n kube-system -o jsonpath='{.data.requestheader-client-ca-file}'",
    );
    server = spawn('node', [join(repositoryRoot, 'test/e2e/support/aggregated-server.mjs')], {
      env: {
        ...process.env,
        HOST: host,
        CERTIFICATE: file('wares.crt', pair.certificatePem),
        KEY: file('wares.key', pair.keyPem),
        FRONT_PROXY_CA: file('wares-front-proxy.crt', published),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(server.stdout!, 'data')) as [Buffer];
    return Number(String(line).trim());
  }

  async function stopServer(): Promise<void> {
    if (!server || server.exitCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGTERM');
    await exited;
  }

  const isAvailable = async (status: 'True' | 'False') =>
    (await must(
      `kubectl get apiservice v1.wares.example.com -o jsonpath='{.status.conditions[?(@.type=="Available")].status}'`,
    )) === status;

  beforeAll(async () => {
    await cluster.up();
    const port = await startServer();
    const objects = [
      { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 443 }] } },
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        subsets: [{ addresses: [{ ip: host }], ports: [{ port }] }],
      },
    ].map((object) => ({ ...object, metadata: { name: 'wares', namespace: 'default' } }));
    const registration = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.wares.example.com' },
      spec: {
        group: 'wares.example.com',
        version: 'v1',
        service: { namespace: 'default', name: 'wares' },
        caBundle: Buffer.from(authorityPem).toString('base64'),
        groupPriorityMinimum: 1_000,
        versionPriority: 15,
      },
    };
    const list = { apiVersion: 'v1', kind: 'List', items: [...objects, registration] };
    await must('kubectl apply -f -', JSON.stringify(list));
    await must('kubectl wait apiservice/v1.wares.example.com --for=condition=Available');
    // Each replica reads the documents of the server for itself.
    await eventually('the kind on every replica', async () => {
      const outputs = await Promise.all([1, 2, 3].map(() => must('kubectl api-resources')));
      return outputs.every((output) => output.includes('wares.example.com/v1'));
    });
  });

  afterAll(async () => {
    await stopServer();
    await cluster.destroy();
  });

  it('gets the user of a request, without the token of the client', async () => {
    const path = '/apis/wares.example.com/v1/whoami';
    expect(JSON.parse(await must(`kubectl get --raw ${path}`))).toEqual({
      user: 'admin',
      groups: 'system:masters, system:authenticated',
      token: null,
    });
    const { code, stderr } = await kubectl(`kubectl get wares --as alice --as-group dev`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot list resource "wares"')]);
  });

  it('serves a kind that kubectl lists, creates, explains and deletes', async () => {
    expect(await must('kubectl api-resources')).toMatch(
      /wares +wr +wares\.example\.com\/v1 +true +Ware/,
    );
    const ware = (name: string, size: unknown) =>
      JSON.stringify({
        apiVersion: 'wares.example.com/v1',
        kind: 'Ware',
        metadata: { name },
        spec: { size },
      });
    await must('kubectl create -f -', ware('lamp', 3));
    expect(await must('kubectl get wr')).toMatch(/NAME +AGE\nlamp/);
    expect(await must('kubectl get ware lamp -o jsonpath={.spec.size}')).toBe('3');
    expect(await must('kubectl explain ware.spec.size')).toContain('Size in inches.');
    await must('kubectl delete ware lamp --wait=false');
    expect((await kubectl('kubectl get ware lamp')).stderr).toContain('NotFound');
  });

  it('streams a watch', async () => {
    const watched = must('(kubectl get wares -w -o name || true) | head -n 2');
    const names = new Set<string>();
    const create = async () => {
      const name = `lamp-${names.size}`;
      names.add(name);
      const object = { apiVersion: 'wares.example.com/v1', kind: 'Ware', metadata: { name } };
      await must('kubectl create -f -', JSON.stringify(object));
    };
    let output: string | undefined;
    watched.then(
      (text) => {
        output = text;
      },
      (error: unknown) => {
        output = String(error);
      },
    );
    await eventually('two events', async () => {
      await create();
      return output !== undefined;
    });
    expect(output).toMatch(/^ware\.wares\.example\.com\/lamp-\d+\nware\S+\n$/);
  });

  it('hides no other kind while it is down, and garbage is collected', async () => {
    await stopServer();
    await eventually('the condition', () => isAvailable('False'));
    const raw = await kubectl('kubectl get --raw /apis/wares.example.com/v1/whoami');
    expect([raw.code, raw.stderr]).toEqual([1, expect.stringContaining('ServiceUnavailable')]);
    const { stdout } = await kubectl('kubectl api-resources');
    expect(stdout).toMatch(/deployments +deploy +apps\/v1/);
    await must('kubectl create deployment web --image=registry.local/web --replicas=2');
    const pods = () => must('kubectl get pods -l app=web -o name');
    await eventually('the pods', async () => (await pods()).split('\n').length === 3);
    await must('kubectl delete deployment web --wait=false');
    await eventually('the end of the pods', async () => (await pods()) === '');
  });
});
