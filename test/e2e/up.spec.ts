/** Starting and stopping a cluster: in the foreground, in the background, and after everything was killed. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster, freePort } from './support/cluster.js';
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
  const other = new Cluster({ dialect: 'kubernetes', components });
  afterAll(async () => {
    await cluster.destroy();
    await other.destroy();
  });

  it('keeps what only its owner may read to its owner', async () => {
    await cluster.up();
    for (const file of ['admin.token', 'kubeconfig', 'tokens.csv', 'pki/ca.key']) {
      expect(statSync(join(cluster.dataDirectory, file)).mode & 0o077).toBe(0);
    }
  });

  it('is not started a second time', async () => {
    const again = await run('node', ['scripts/up.mjs', '--data-dir', cluster.dataDirectory]);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/is running already.*npm run down/);
  });

  it('has neighbours with addresses of their own', async () => {
    await other.up();
    const settings = [cluster, other].map(({ dataDirectory }) =>
      JSON.parse(readFileSync(join(dataDirectory, 'cluster.json'), 'utf8')),
    );
    expect(settings[0].addresses.serviceCidr).not.toBe(settings[1].addresses.serviceCidr);
    expect(settings[0].addresses.podCidr).not.toBe(settings[1].addresses.podCidr);
  });

  it('starts a killed component again and says so', async () => {
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

  it('finds its objects again, also after a killed supervisor', async () => {
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

  it('that cannot start says why, and leaves nothing running', async () => {
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

describe('a cluster in the foreground', () => {
  it('runs until Ctrl-C and ends with all its processes', async () => {
    const cluster = new Cluster({ dialect: 'orch', components });
    const port = await freePort();
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
