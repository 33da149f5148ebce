/**
 * Hollow nodes against a real API server with the Node authorizer: a deployment and a job run on
 * them, and a restarted process continues. The process has only the permissions of
 * docs/hollow-nodes.md, none of which writes, so that every write has the identity of a node.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '@orch/types/core/v1';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { repositoryRoot } from './support/process.js';
import { eventually } from './support/wait.js';

const cluster = new Cluster({
  dialect: 'orch',
  replicas: 1,
  components: 'apiserver,controller-manager,scheduler',
});
const file = (name: string) => join(cluster.dataDirectory, name);
let agent: ChildProcess | undefined;

function startNodes(): void {
  const output = openSync(file('hollow.log'), 'a');
  const flags = ['--hollow=5', '--node-name=sim', '--hollow-run-duration=1s'];
  agent = spawn(
    'node',
    ['dist/apps/node-agent/src/main.js', ...flags, `--kubeconfig=${file('hollow.kubeconfig')}`],
    { cwd: repositoryRoot, stdio: ['ignore', output, output] },
  );
}

/** Creates the account of the process, with the role of the documentation. */
async function createAccount(): Promise<void> {
  const page = readFileSync(join(repositoryRoot, 'docs/hollow-nodes.md'), 'utf8');
  await ctl(['apply', '-f', '-'], /```yaml\n([\s\S]*?)```/.exec(page)?.[1]);
  await ctl(['apply', '-f', '-'], JSON.stringify(account));
  await ctl(['apply', '-f', '-'], JSON.stringify(binding));
  const path = '/api/v1/namespaces/default/serviceaccounts/hollow/token';
  const request = { apiVersion: 'authentication.orch.io/v1', kind: 'TokenRequest', spec: {} };
  const { body } = await new Api(cluster).call<{ status: { token: string } }>(
    'POST',
    path,
    request,
  );
  const authority = readFileSync(file('ca.crt')).toString('base64');
  const server = { server: cluster.url, 'certificate-authority-data': authority };
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: server }],
    users: [{ name: 'u', user: { token: body.status.token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(file('hollow.kubeconfig'), JSON.stringify(kubeconfig), { mode: 0o600 });
}

async function killNodes(): Promise<void> {
  const child = agent;
  agent = undefined;
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await exited;
}

async function ctl(args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.orchctl(args, input);
  if (code !== 0) throw new Error(`orchctl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function podsOf(label: string): Promise<Pod[]> {
  const list: { items: Pod[] } = JSON.parse(await ctl(['get', 'pods', '-l', label, '-o', 'json']));
  return list.items;
}

const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'hollow' } };
const binding = {
  apiVersion: 'rbac.authorization.orch.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'hollow-nodes' },
  roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'hollow-nodes' },
  subjects: [{ kind: 'ServiceAccount', name: 'hollow', namespace: 'default' }],
};
const container = [{ name: 'main', image: 'any', command: ['run'] }];
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 10,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: container } },
  },
};
const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'work' },
  spec: { completions: 3, template: { spec: { restartPolicy: 'Never', containers: container } } },
};

const webIsReady = () =>
  eventually('ten ready pods', async () => {
    const pods = await podsOf('app=web');
    const isReady = ({ status }: Pod) =>
      status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    return pods.length === 10 && pods.every(isReady) && pods;
  });

beforeAll(async () => {
  await cluster.up();
  await createAccount();
  startNodes();
}, 200_000);
afterAll(async () => {
  await killNodes();
  await cluster.destroy();
});

it('runs a deployment and completes a job', { timeout: 120_000 }, async () => {
  await ctl(['apply', '-f', '-'], JSON.stringify(deployment));
  await ctl(['apply', '-f', '-'], JSON.stringify(job));
  await webIsReady();
  await eventually('the job completes', async () =>
    (await ctl(['get', 'job', 'work', '-o', 'json'])).includes('"succeeded": 3'),
  );
});

it('continues with the pods after a kill', { timeout: 120_000 }, async () => {
  const starts = (pods: Pod[]) =>
    pods.map(({ metadata, status }) => [metadata?.uid, status?.podIP, status?.startTime]).sort();
  const before = starts(await webIsReady());
  await killNodes();
  startNodes();
  await ctl(['delete', 'job', 'work']);
  await eventually('its pods are removed', async () => {
    return (await podsOf('job-name=work')).length === 0;
  });
  expect(starts(await webIsReady())).toEqual(before);
});

it('gives each node a lease of its own', { timeout: 60_000 }, async () => {
  const lease = await ctl(['get', 'lease', 'sim-1', '-n', 'orch-node-lease', '-o', 'json']);
  expect(JSON.parse(lease).spec.holderIdentity).toBe('sim-1');
});
