/**
 * Routes without a cloud, with real processes: agents without a range of their own take the one
 * that the controller manager assigns, the route controller announces it, and the proxy of another
 * machine routes to it. The second machine is a network namespace. Requires root.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { endProcess, must, repositoryRoot, run } from './support/process.js';
import { eventually } from './support/wait.js';

interface NodeView {
  metadata: { annotations: Record<string, string> };
  spec: { podCIDR?: string };
  status: { conditions: { type: string; status: string; reason: string }[] };
}

const octet = process.pid % 256;
/** Networks for tests of devices, which no machine uses. */
const podRange = `198.19.${octet}.0/24`;
const [host, machine] = [`198.18.${octet}.1`, `198.18.${octet}.2`];
const name = `routes-${process.pid}`;
const link = `rt${process.pid}`;
const directory = mkdtempSync(join(tmpdir(), 'orch-e2e-routes-'));
const file = (part: string) => join(directory, part);
const poolAddress = `198.18.${octet}.9`;
writeFileSync(file('cloud.yaml'), `addresses: [${poolAddress}/32]\n`);

const componentFlags: Readonly<Record<string, readonly string[]>> = {
  apiserver: ['--bind-address=0.0.0.0'],
  'controller-manager': [
    ...['--allocate-node-cidrs', `--cluster-cidr=${podRange}`, '--node-cidr-mask-size=26'],
    ...['--cloud-provider=pool', `--cloud-config=${file('cloud.yaml')}`],
    ...[`--cluster-name=${name}`, '--route-reconciliation-period=1s'],
  ],
  'node-agent': ['--pod-cidr='],
  proxy: [`--pod-route-range=${podRange}`, '--announced-routes-only', `--cluster-name=${name}`],
};

const cluster = new Cluster({
  ...{ dialect: 'orch', replicas: 1, nodes: 1 },
  extraArgs: Object.entries(componentFlags).flatMap(([component, flags]) =>
    flags.map((flag) => `--component-arg=${component}=${flag}`),
  ),
});
let api: Api;
let agent: ChildProcess | undefined;

/** A machine with one link to this one. */
async function addMachine(): Promise<void> {
  await must('ip', ['netns', 'add', name]);
  await must('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]);
  await must('ip', ['addr', 'add', `${host}/30`, 'dev', link]);
  await must('ip', ['link', 'set', link, 'up']);
  for (const command of [
    'link set lo up',
    `addr add ${machine}/30 dev eth0`,
    'link set eth0 up',
    `route add default via ${host}`,
  ]) {
    await must('ip', ['-n', name, ...command.split(' ')]);
  }
}

function startAgent(): void {
  const authority = readFileSync(join(cluster.dataDirectory, 'ca.crt')).toString('base64');
  const server = cluster.url.replace('127.0.0.1', host);
  const reached = {
    server,
    'tls-server-name': 'localhost',
    'certificate-authority-data': authority,
  };
  writeFileSync(
    file('kubeconfig'),
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'x' },
      clusters: [{ name: 'c', cluster: reached }],
      users: [{ name: 'u', user: { token: cluster.token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    }),
  );
  const output = openSync(file('agent.log'), 'a');
  const flags = [
    ...[`--kubeconfig=${file('kubeconfig')}`, `--root-dir=${file('node')}`],
    ...['--node-name=far', `--cluster-name=${name}`, '--pod-cidr='],
    ...[`--node-ip=${machine}`, `--address=${machine}`, '--port=0'],
    ...['--process-isolation=isolated', '--teardown-on-stop'],
  ];
  const command = [process.execPath, 'dist/apps/node-agent/src/main.js', ...flags];
  agent = spawn('ip', ['netns', 'exec', name, ...command], {
    ...{ cwd: repositoryRoot, stdio: ['ignore', output, output] },
  });
}

async function stopAgent(): Promise<void> {
  const child = agent;
  agent = undefined;
  await endProcess(child);
}

const get = async (path: string) => (await api.call<NodeView>('GET', path)).body;
const routes = async () => (await must('ip', ['-4', 'route', 'show', 'via', machine])).trim();
const networkOf = (node: NodeView) =>
  node.status.conditions.find(({ type }) => type === 'NetworkUnavailable');
/** The node, when it is ready and announced. Before it has a range, its network is unavailable. */
const readyNode = (nodeName: string) =>
  eventually(`the node ${nodeName}`, async () => {
    const node = await get(`/api/v1/nodes/${nodeName}`);
    const isReady = node.status.conditions.some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    );
    return isReady && networkOf(node)?.status === 'False' ? node : undefined;
  });

describe.runIf(process.getuid?.() === 0)('announced routes', () => {
  beforeAll(async () => {
    await addMachine();
    await cluster.up();
    api = new Api(cluster);
    startAgent();
  });

  afterAll(async () => {
    await stopAgent();
    await api?.close();
    await cluster.destroy();
    await run('ip', ['link', 'delete', link]);
    await run('ip', ['netns', 'delete', name]);
    rmSync(directory, { recursive: true, force: true });
  });

  it('are announced for the ranges that agents get from the controller manager', async () => {
    const nodes = [await readyNode('node-1'), await readyNode('far')];
    const ranges = nodes.map(({ spec }) => spec.podCIDR ?? '');
    expect(new Set(ranges).size).toBe(2);
    for (const [index, node] of nodes.entries()) {
      expect(ranges[index]).toMatch(/^198\.19\.\d+\.\d+\/26$/);
      expect(node.metadata.annotations[`pod-routes.node.orch.io/${name}`]).toBe(ranges[index]);
      expect(networkOf(node)?.reason).toBe('RouteCreated');
    }
  });

  it('lead to the pods of the other machine, and only there', async () => {
    const { spec } = await readyNode('far');
    const expected = `^${spec.podCIDR?.replaceAll('.', '\\.')} dev ${link} proto \\d+ *$`;
    await eventually('the route', async () => (await routes()) !== '');
    expect(await routes()).toMatch(new RegExp(expected));
    const program = "require('http').createServer((_, out) => out.end('far')).listen(8080)";
    const container = { name: 'web', image: 'web', command: ['node', '-e', program] };
    await api.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: { nodeName: 'far', terminationGracePeriodSeconds: 1, containers: [container] },
    });
    const body = await eventually('a response of the pod', async () => {
      const path = '/api/v1/namespaces/default/pods/web';
      const { status } = (await api.call<{ status: { podIP?: string } }>('GET', path)).body;
      const response = status.podIP && (await fetch(`http://${status.podIP}:8080/`));
      return response ? response.text() : undefined;
    });
    expect(body).toBe('far');
  });

  it('carry the connections to the address of a load balancer', async () => {
    const ports = [{ port: 80, targetPort: 8080 }];
    await api.call('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 'web' },
      spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports },
    });
    await eventually('the response of the pod at the address', async () => {
      // Until this machine has the address, a router may respond.
      const response = await fetch(`http://${poolAddress}/`);
      return (await response.text()) === 'far';
    });
  });

  it('disappear with their node', async () => {
    await stopAgent();
    await api.call('DELETE', '/api/v1/nodes/far');
    await eventually('the end of the route', async () => (await routes()) === '');
  });
});
