/** Starting and stopping a cluster: in the foreground, in the background, and after kills. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stablePort } from '../chaos/support/ports.js';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { apiServerProcess, apiServerReplaced } from './support/kill.js';
import { componentProcess } from './support/pods.js';
import { repositoryRoot, run } from './support/process.js';
import { eventually } from './support/wait.js';

const components = 'apiserver,scheduler';

interface Identity {
  readonly pid: number;
}

function supervisorPid(cluster: Cluster): number {
  const text = readFileSync(join(cluster.dataDirectory, 'run/supervisor.json'), 'utf8');
  return (JSON.parse(text) as Identity).pid;
}

const isRunning = (cluster: Cluster) =>
  components.split(',').some((name) => componentProcess(name, cluster.dataDirectory) !== undefined);

describe('a cluster in the background', () => {
  const cluster = new Cluster({ dialect: 'orch', components });
  const other = new Cluster({ dialect: 'kubernetes', replicas: 1, components });
  afterAll(async () => {
    await cluster.destroy();
    await other.destroy();
  });

  it('makes its secrets readable by their owner only', async () => {
    await cluster.up();
    for (const file of [
      'admin.token',
      'kubeconfig',
      'tokens.csv',
      'pki/ca.key',
      'pki/peer-ca.key',
      'pki/service-account.key',
    ]) {
      expect(statSync(join(cluster.dataDirectory, file)).mode & 0o077).toBe(0);
    }
  });

  it('is not started a second time', async () => {
    const again = await run('node', ['scripts/up.mjs', '--data-dir', cluster.dataDirectory]);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/is running already.*npm run down/);
  });

  it('refuses another number of API servers', async () => {
    const args = ['--data-dir', cluster.dataDirectory, '--replicas', '1'];
    const changed = await run('node', ['scripts/up.mjs', ...args]);
    expect(changed.code).toBe(1);
    expect(changed.stderr).toMatch(/created with --replicas 3.*orchctl cluster add-member/);
    const wrong = await run('node', ['scripts/up.mjs', ...args.slice(0, 2), '--replicas', '2']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toMatch(/--replicas.*1, 3, 5/);
  });

  it('shares no addresses with another cluster', async () => {
    await other.up();
    const settings = [cluster, other].map(({ dataDirectory }) =>
      JSON.parse(readFileSync(join(dataDirectory, 'cluster.json'), 'utf8')),
    );
    expect(settings[0].addresses.serviceCidr).not.toBe(settings[1].addresses.serviceCidr);
    expect(settings[0].addresses.podCidr).not.toBe(settings[1].addresses.podCidr);
  });

  it('starts a killed component again and logs it', async () => {
    const victim = componentProcess('scheduler', cluster.dataDirectory)!;
    process.kill(victim, 'SIGKILL');
    await eventually('another scheduler', () => {
      const pid = componentProcess('scheduler', cluster.dataDirectory);
      return pid !== undefined && pid !== victim;
    });
    expect(cluster.log('supervisor')).toMatch(/scheduler ended by SIGKILL; starting it again/);
  });

  it('is stopped although its supervisor was killed, and can be stopped again', async () => {
    process.kill(supervisorPid(cluster), 'SIGKILL');
    expect(isRunning(cluster)).toBe(true);
    expect(await cluster.down()).toContain('stopped');
    expect(isRunning(cluster)).toBe(false);
    expect(await cluster.down()).toContain('nothing runs');
    expect(isRunning(other)).toBe(true);
  });

  it('has its objects after a restart, also if its supervisor was killed', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    await cluster.up();
    const before = new Api(cluster);
    const made = await before.call('POST', path, { metadata: { name: 'kept' } });
    await before.close();
    expect(made.status).toBe(201);
    process.kill(supervisorPid(cluster), 'SIGKILL');
    expect(await cluster.up()).toContain('left behind');
    const after = new Api(cluster);
    expect((await after.call('GET', `${path}/kept`)).body).toEqual(made.body);
    await after.close();
  });

  it('that cannot start reports the reason, and leaves no process', async () => {
    const broken = new Cluster({
      dialect: 'orch',
      components,
      extraArgs: ['--component-arg', 'scheduler=--no-such-flag'],
    });
    await expect(broken.up()).rejects.toThrow(/scheduler ended with exit code 2.*\n.*no-such-flag/);
    expect(isRunning(broken)).toBe(false);
    await broken.destroy();
  });
});

describe('the server of a component', () => {
  const cluster = new Cluster({ dialect: 'orch', nodes: 1, replicas: 1 });
  let agent: Agent;

  beforeAll(async () => {
    await cluster.up();
    agent = new Agent({ connect: { ca: readFileSync(join(cluster.dataDirectory, 'ca.crt')) } });
  });

  afterAll(async () => {
    await agent.close();
    await cluster.destroy();
  });

  async function metrics(port: number, token: string): Promise<[number, string]> {
    const { statusCode, body } = await request(`https://127.0.0.1:${port}/metrics`, {
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}` },
    });
    return [statusCode, await body.text()];
  }

  it.each(['controllerManager', 'scheduler', 'proxy', 'nodes'])(
    'serves its metrics to clients with a permitted token of the cluster: %s',
    async (name) => {
      const text = readFileSync(join(cluster.dataDirectory, 'cluster.json'), 'utf8');
      const port = JSON.parse(text).addresses.ports[name];
      const [code, shown] = await metrics(port, cluster.token);
      expect(code).toBe(200);
      expect(shown).toContain('process_cpu_seconds_total');
      expect((await metrics(port, 'another'))[0]).toBe(401);
    },
  );

  it('runs in one process with the others, which is started again as a whole', async () => {
    const all = ['controller-manager', 'scheduler', 'node-agent', 'proxy'];
    const pids = () =>
      new Set(all.map((component) => componentProcess(component, cluster.dataDirectory)));
    const [victim] = pids();
    expect(pids().size).toBe(1);
    const starts = () => cluster.log('components').match(/INFO +orch-proxy: started/g) ?? [];
    const before = starts().length;
    process.kill(victim!, 'SIGKILL');
    await eventually('all of them to be started again', () => starts().length > before);
    expect(cluster.log('supervisor')).toMatch(/components ended by SIGKILL; starting it again/);
    expect(pids().size).toBe(1);
    expect(pids().has(victim)).toBe(false);
  });
});

describe('a cluster of three API servers', () => {
  // The controller manager creates the account that pods need.
  const cluster = new Cluster({ dialect: 'orch', components: `${components},controller-manager` });
  const schedulerPid = () => componentProcess('scheduler', cluster.dataDirectory);
  let scheduler: number | undefined;
  let api: Api;
  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
    scheduler = schedulerPid();
  });
  afterAll(async () => {
    await api.close();
    await cluster.destroy();
  });

  /** Waits until the scheduler, which watches, has handled a new pod. */
  async function isScheduled(name: string): Promise<void> {
    const pods = '/api/v1/namespaces/default/pods';
    const spec = { containers: [{ name: 'c', image: 'x' }], schedulerName: 'default-scheduler' };
    await eventually(`${name} to be created`, async () => {
      const { status } = await api.call('POST', pods, { metadata: { name }, spec });
      return status === 201 || status === 409;
    });
    await eventually(`${name} to be seen by the scheduler`, async () => {
      const { body } = await api.call<{ status?: { conditions?: { type: string }[] } }>(
        'GET',
        `${pods}/${name}`,
      );
      return body.status?.conditions?.some(({ type }) => type === 'PodScheduled');
    });
  }

  it('serves its clients while each is killed, and starts it again', async () => {
    for (const ordinal of [1, 2, 3]) {
      const victim = apiServerProcess(cluster, ordinal);
      process.kill(victim, 'SIGKILL');
      const read = await cluster.orchctl(['get', 'namespaces']);
      expect(read).toMatchObject({ code: 0, stderr: '' });
      await apiServerReplaced(cluster, ordinal, victim);
      await eventually('it to be ready', async () => {
        return (await api.text('GET', '/readyz')).status === 200;
      });
      await isScheduled(`after-kill-${ordinal}`);
    }
    expect(schedulerPid()).toBe(scheduler);
    expect(cluster.log('supervisor')).toMatch(/apiserver-2 ended by SIGKILL; starting it again/);
  });

  it('serves clients that only watch while one is suspended', async () => {
    for (const ordinal of [2, 3]) {
      const suspended = apiServerProcess(cluster, ordinal);
      process.kill(suspended, 'SIGSTOP');
      try {
        const startMs = performance.now();
        await isScheduled(`while-suspended-${ordinal}`);
        expect(performance.now() - startMs).toBeLessThan(20_000);
        expect((await cluster.orchctl(['get', 'pods'])).code).toBe(0);
      } finally {
        process.kill(suspended, 'SIGCONT');
      }
    }
    expect(schedulerPid()).toBe(scheduler);
  });
});

describe('a directory of an earlier version', () => {
  it('is refused with the remedy, and not changed', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-e2e-'));
    const settings = JSON.stringify({ formatVersion: 1, dialect: 'orch', port: 6443 });
    writeFileSync(join(directory, 'cluster.json'), settings);
    const refused = await run('node', ['scripts/up.mjs', '--data-dir', directory]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/earlier version.*--data-dir/);
    expect((await run('node', ['scripts/down.mjs', '--data-dir', directory])).code).toBe(0);
    expect(readFileSync(join(directory, 'cluster.json'), 'utf8')).toBe(settings);
    rmSync(directory, { recursive: true });
  });
});

describe('a cluster in the foreground', () => {
  it('runs until Ctrl-C and ends with all its processes', async () => {
    const cluster = new Cluster({ dialect: 'orch', components });
    const port = await stablePort();
    const args = ['scripts/up.mjs', '--data-dir', cluster.dataDirectory];
    args.push('--components', components, '--port', String(port));
    const child = spawn('node', args, { cwd: repositoryRoot });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const ended = new Promise((done) => child.once('exit', done));
    await eventually('the welcome', () => printed.includes('Ready after'));
    expect(printed).toContain(`https://127.0.0.1:${port}`);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(isRunning(cluster)).toBe(false);
    expect(existsSync(join(cluster.dataDirectory, 'run/supervisor.json'))).toBe(false);
    rmSync(cluster.dataDirectory, { recursive: true });
  });
});
