/** A component without leader election, which a test kills and starts again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from './cluster.js';
import { repositoryRoot } from './process.js';

export class KilledComponent {
  private process: ChildProcess | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly name: 'controller-manager' | 'scheduler',
    private readonly flags: readonly string[] = [],
  ) {}

  start(): void {
    const child = spawn(
      process.execPath,
      [
        `dist/apps/${this.name}/src/main.js`,
        `--kubeconfig=${this.cluster.kubeconfig}`,
        ...['--leader-elect=false', '--secure-port=0', '--dialect=orch'],
        ...this.flags,
      ],
      { cwd: repositoryRoot, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const log = join(this.cluster.dataDirectory, 'logs', `${this.name}.log`);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => appendFileSync(log, chunk));
    }
    this.process = child;
  }

  async kill(): Promise<void> {
    const child = this.process;
    if (!child) return;
    this.process = undefined;
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`the ${this.name} ended by itself: ${child.exitCode ?? child.signalCode}`);
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}
