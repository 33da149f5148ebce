/**
 * The built API server as a process: the host of the chart's tests, and the program whose flags are
 * checked.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { stablePort } from '../../chaos/support/ports.js';
import { eventually } from '../../e2e/support/wait.js';
import { repository } from './helm.js';

const token = 'host-token';

/** A host cluster for Helm: an API server with the names of stock clients. */
export class HostServer {
  readonly directory = mkdtempSync(join(tmpdir(), 'orch-chart-host-'));
  readonly kubeconfig = join(this.directory, 'kubeconfig');
  private child: ChildProcess | undefined;
  private url = '';

  async start(): Promise<void> {
    const port = await stablePort();
    const tokens = join(this.directory, 'tokens.csv');
    writeFileSync(tokens, `${token},host,host,"system:masters"\n`);
    this.url = `https://127.0.0.1:${port}`;
    writeFileSync(this.kubeconfig, kubeconfigText(this.url));
    this.child = spawn(
      process.execPath,
      [
        join(repository, 'dist/apps/apiserver/src/main.js'),
        '--dialect=kubernetes',
        `--data-dir=${join(this.directory, 'data')}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        `--token-auth-file=${tokens}`,
        '--log-level=warn',
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    await eventually('the host is ready', async () => (await this.read('/readyz')) === 'ok');
  }

  async read(path: string): Promise<string> {
    const agent = new Agent({ connect: { rejectUnauthorized: false } });
    try {
      const answer = await fetch(this.url + path, {
        dispatcher: agent,
        headers: { authorization: `Bearer ${token}` },
      });
      return await answer.text();
    } finally {
      await agent.close();
    }
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (child && child.exitCode === null) {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function kubeconfigText(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'host', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'host', user: { token } }],
    contexts: [{ name: 'host', context: { cluster: 'host', user: 'host', namespace: 'default' } }],
    'current-context': 'host',
  });
}
