/**
 * The usage of nodes and pods in a default installation of the `kubernetes` dialect: stock kubectl
 * shows the figures of the process table, and autoscalers scale by them.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from './support/cluster.js';
import { stockTool } from './support/kubectl.js';
import { processesOfPod } from './support/pods.js';
import { must, run } from './support/process.js';
import { eventually } from './support/wait.js';

/** Uses so many cores on average, and holds so many MiB. */
const load = `
const [share, mebibytes] = process.argv.slice(1).map(Number);
globalThis.held = Buffer.alloc(mebibytes * 1024 * 1024, 1);
setInterval(() => {
  const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  while (used() < share * performance.now());
}, 20);`;

const container = (name: string, command: string) => ({
  name,
  image: 'load',
  command: ['sh', '-c', command],
  env: [{ name: 'LOAD', value: load }],
  resources: { requests: { cpu: '50m' } },
});

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'load', labels: { app: 'load' } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      container('main', 'node -e "$LOAD" 0.1 10 & exec node -e "$LOAD" 0.2 100'),
      container('side', 'exec node -e "$LOAD" 0 200'),
    ],
  },
};

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [container('main', 'exec node -e "$LOAD" 0.08 1')],
      },
    },
  },
};

/** The registration in the manifest of the upstream metrics server. */
const registration = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1beta1.metrics.k8s.io', labels: { 'k8s-app': 'metrics-server' } },
  spec: {
    group: 'metrics.k8s.io',
    version: 'v1beta1',
    groupPriorityMinimum: 100,
    versionPriority: 100,
    insecureSkipTLSVerify: true,
    service: { name: 'metrics-server', namespace: 'kube-system' },
  },
};

interface Usage {
  /** Thousandths of a core. */
  readonly cpuMilli: number;
  readonly mebibytes: number;
}

const rateMs = 10_000;
const pageBytes = 4096;

function statFields(path: string): number[] {
  const text = readFileSync(path, 'utf8');
  return text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
}

/** CPU time in ticks of ten milliseconds, and resident memory, of processes. */
function processTable(pids: readonly number[]): { ticks: number; mebibytes: number } {
  let ticks = 0;
  let pages = 0;
  for (const pid of pids) {
    const fields = statFields(`/proc/${pid}/stat`);
    ticks += fields[11]! + fields[12]! + fields[13]! + fields[14]!;
    pages += fields[21]!;
  }
  return { ticks, mebibytes: (pages * pageBytes) / 2 ** 20 };
}

function machine(): { ticks: number; mebibytes: number } {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = readFileSync(
    '/proc/stat',
    'utf8',
  )
    .split('\n', 1)[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const kibibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]);
  return {
    ticks: user + nice + system + irq + softIrq + steal,
    mebibytes: (kibibytes('MemTotal') - kibibytes('MemAvailable')) / 1024,
  };
}

/** The usage over the next ten seconds. */
async function measured(read: () => { ticks: number; mebibytes: number }): Promise<Usage> {
  const before = read();
  const startMs = performance.now();
  await new Promise((done) => setTimeout(done, rateMs));
  const after = read();
  const seconds = (performance.now() - startMs) / 1_000;
  return {
    cpuMilli: ((after.ticks - before.ticks) * 10) / seconds,
    mebibytes: after.mebibytes,
  };
}

function isClose(shown: Usage, actual: Usage): boolean {
  const within = (a: number, b: number) => Math.abs(a - b) <= 0.1 * b;
  if (within(shown.cpuMilli, actual.cpuMilli) && within(shown.mebibytes, actual.mebibytes)) {
    return true;
  }
  throw new Error(`shown ${JSON.stringify(shown)}, actual ${JSON.stringify(actual)}`);
}

function usageIn(line: string): Usage {
  const cpuMilli = Number(/ (\d+)m /.exec(line)?.[1]);
  const mebibytes = Number(/ (\d+)Mi/.exec(line)?.[1]);
  return { cpuMilli, mebibytes };
}

describe('resource metrics', () => {
  const cluster = new Cluster({ dialect: 'kubernetes', nodes: 2 });

  const env = { KUBECONFIG: cluster.kubeconfig, HOME: cluster.dataDirectory };

  const kubectl = (args: string, input?: string) =>
    must(stockTool('kubectl'), args.split(' '), { env, ...(input !== undefined && { input }) });

  beforeAll(async () => {
    await cluster.up();
    await kubectl('apply -f -', JSON.stringify(pod));
    await kubectl('wait pod/load --for=condition=Ready --timeout=60s');
  });

  afterAll(() => cluster.destroy());

  it('of a pod match the process table, child processes and all containers included', async () => {
    const usage = await eventually(
      'the usage of the pod',
      async () => {
        const actual = await measured(() => processTable(processesOfPod('load')));
        const shown = usageIn(await kubectl('top pod load --no-headers'));
        return isClose(shown, actual) && actual;
      },
      120_000,
    );
    expect(usage.cpuMilli).toBeGreaterThan(250);
    expect(usage.mebibytes).toBeGreaterThan(310);
  });

  it('of containers are separate', async () => {
    const lines = (await kubectl('top pods -l app=load --containers --no-headers')).split('\n');
    const [main, side] = ['main', 'side'].map((name) =>
      usageIn(lines.find((line) => line.startsWith(`load   ${name} `)) ?? ''),
    );
    expect(main!.cpuMilli).toBeGreaterThan(2 * side!.cpuMilli);
    expect(side!.mebibytes).toBeGreaterThan(200);
  });

  it('of nodes match those of the machine', async () => {
    await eventually(
      'the usage of the nodes',
      async () => {
        const actual = await measured(machine);
        const lines = (await kubectl('top nodes --no-headers')).trim().split('\n');
        expect(lines).toHaveLength(2);
        return lines.every((line) => isClose(usageIn(line), actual));
      },
      150_000,
    );
  });

  it('are printed by orchctl', async () => {
    const { code, stdout } = await cluster.orchctl(['top', 'pods', '-A', '--sort-by', 'memory']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^NAMESPACE +NAME +CPU\(cores\) +MEMORY\(bytes\)\ndefault +load +\d+m/),
    ]);
    const nodes = await cluster.orchctl(['top', 'nodes']);
    expect(nodes.stdout).toMatch(/node-1 +\d+m +\d+% +\d+Mi +\d+%\nnode-2 /);
  });

  it('let an autoscaler scale by CPU use', async () => {
    await kubectl('apply -f -', JSON.stringify(deployment));
    await kubectl('autoscale deployment web --cpu-percent=50 --min=1 --max=3');
    const replicas = () => kubectl('get deployment web -o jsonpath={.status.readyReplicas}');
    await eventually('three replicas', async () => (await replicas()) === '3', 150_000);
    const conditions = await kubectl(
      'get hpa web -o jsonpath={.metadata.annotations.autoscaling\\.alpha\\.kubernetes\\.io/conditions}',
    );
    expect(conditions).toContain('ValidMetricFound');
  });

  it('give way to the manifest of a metrics server, and return when it is deleted', async () => {
    await kubectl('apply -f -', JSON.stringify(registration));
    await eventually('the failure', async () => {
      const path = '/apis/metrics.k8s.io/v1beta1/nodes';
      const { code, stderr } = await run(stockTool('kubectl'), ['get', '--raw', path], { env });
      return code === 1 && stderr.includes('ServiceUnavailable');
    });
    const service = '-o jsonpath={.spec.service.name}';
    expect(await kubectl(`get apiservice ${registration.metadata.name} ${service}`)).toBe(
      'metrics-server',
    );
    await kubectl('delete -f -', JSON.stringify(registration));
    await eventually('the usage', async () =>
      (await kubectl('top nodes --no-headers')).includes('node-1'),
    );
  });
});
