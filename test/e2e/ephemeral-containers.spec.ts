/** A debug container in a running pod, as a user of stock kubectl adds it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from './support/cluster.js';
import { kubectlReleases } from './support/kubectl.js';
import { run } from './support/process.js';
import { eventually } from './support/wait.js';

/** A server that only containers in the network of the pod can reach. */
const program = `
require('node:http')
  .createServer((request, response) => response.end('from main'))
  .listen(8080, process.env.POD_IP);
`;
const manifest = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'test/web',
        command: ['node', '-e', program],
        env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
      },
    ],
  },
});
const asking = (url: string) => `
fetch(${JSON.stringify(url)}).then((answer) => answer.text()).then((text) => {
  console.log('seen ' + text);
  process.stdin.on('data', (input) => process.exit(Number(input)));
});
`;

interface PodView {
  readonly spec: { readonly ephemeralContainers?: readonly { readonly name: string }[] };
  readonly status: {
    readonly phase: string;
    readonly podIP: string;
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly restartCount: number;
    }[];
    readonly ephemeralContainerStatuses?: readonly {
      readonly name: string;
      readonly state: {
        readonly running?: object;
        readonly terminated?: { readonly exitCode: number };
      };
    }[];
  };
}

describe('a container added to a pod', () => {
  const cluster = new Cluster({
    dialect: 'kubernetes',
    nodes: 1,
    replicas: 1,
    extraArgs: ['--component-arg', 'apiserver=--feature-gates=EphemeralContainers=true'],
  });
  let binary: string;

  const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
    const all = ['--kubeconfig', cluster.kubeconfig, ...args];
    const { code, stdout, stderr } = await run(binary, all, input === undefined ? {} : { input });
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${code}\n${stdout}\n${stderr}`);
    return stdout;
  };
  const pod = async (): Promise<PodView> =>
    JSON.parse(await kubectl(['get', 'pod', 'web', '-o', 'json']));
  const stateOf = async (name: string) =>
    (await pod()).status.ephemeralContainerStatuses?.find((status) => status.name === name)?.state;

  beforeAll(async () => {
    binary = await kubectlReleases.find(({ release }) => release === '1.20')!.binary();
    await cluster.up();
    await eventually('the pod to be taken', async () => {
      const { code } = await cluster.orchctl(['apply', '-f', '-'], manifest);
      return code === 0;
    });
    await eventually('the pod to be ready', async () =>
      (await pod()).status.containerStatuses?.every(({ ready }) => ready),
    );
  });

  afterAll(() => cluster.destroy());

  it('runs in it, and serves logs, exec and attach until it ends', async () => {
    const { podIP } = (await pod()).status;
    const command = ['node', '-e', asking(`http://${podIP}:8080/`)];
    await kubectl([
      ...['alpha', 'debug', 'web', '--image=test/debug', '--container=debug', '--target=main'],
      ...['--stdin', '--attach=false', '--', ...command],
    ]);
    await eventually('it to have read from the server of the pod', async () => {
      if (!(await stateOf('debug'))?.running) return false;
      return (await kubectl(['logs', 'web', '-c', 'debug'])).includes('seen from main');
    });
    expect(await kubectl(['exec', 'web', '-c', 'debug', '--', 'echo', 'inside'])).toBe('inside\n');
    await kubectl(['attach', 'web', '-c', 'debug', '-i'], '7\n');
    const ended = await eventually('its end', async () => (await stateOf('debug'))?.terminated);
    expect(ended.exitCode).toBe(7);
    const { status } = await pod();
    expect(status.phase).toBe('Running');
    expect(status.containerStatuses).toMatchObject([{ ready: true, restartCount: 0 }]);
  });

  it('does not start again when another is added, and is deleted with the pod', async () => {
    await kubectl([
      ...['alpha', 'debug', 'web', '--image=test/debug', '--container=second', '--attach=false'],
      ...['--', 'sleep', '100000'],
    ]);
    await eventually('the second to run', async () => (await stateOf('second'))?.running);
    expect((await stateOf('debug'))?.terminated?.exitCode).toBe(7);
    await kubectl(['delete', 'pod', 'web', '--grace-period=1']);
    expect(await kubectl(['get', 'pods', '-o', 'name'])).toBe('');
  });
});
