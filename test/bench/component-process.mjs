/** A built client of the API server (controller manager, scheduler) in a child process. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeEnvironmentOf, nodeOf } from './node-of.mjs';
import { cpuUs, residentBytes, threadCpuUs } from './proc.mjs';

export class ComponentProcess {
  /** Runs the program of the checkout of `server`, with the credentials of the bench. */
  constructor(name, server, flags) {
    this.name = name;
    this.server = server;
    this.flags = flags;
  }

  async start() {
    const { directory, url, token, tree } = this.server;
    const kubeconfig = join(directory, `${this.name}.json`);
    const cluster = { server: url, 'insecure-skip-tls-verify': true };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'bench' },
        contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
        clusters: [{ name: 'bench', cluster }],
        users: [{ name: 'bench', user: { token } }],
      }),
    );
    const program = join(tree, `dist/apps/${this.name}/src/main.js`);
    const nodeArguments = (process.env.ORCH_BENCH_NODE_ARGS ?? '').split(' ').filter(Boolean);
    const common = [`--kubeconfig=${kubeconfig}`, '--secure-port=0', '--log-level=error'];
    const line = [...nodeArguments, program, ...this.argumentsWith(common)];
    const env = await nodeEnvironmentOf(tree);
    this.child = spawn(nodeOf(tree), line, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  }

  argumentsWith(common) {
    return [...common, ...this.flags];
  }

  cpuUs() {
    return cpuUs(this.child.pid);
  }

  mainThreadCpuUs() {
    return threadCpuUs(this.child.pid, this.child.pid);
  }

  residentBytes() {
    return residentBytes(this.child.pid);
  }

  async stop() {
    if (!this.child || this.child.exitCode !== null) return;
    const ended = new Promise((done) => this.child.once('exit', done));
    this.child.kill('SIGTERM');
    await ended;
  }
}

/** Controller manager and scheduler in one process, with their flags. */
export class ComponentsProcess extends ComponentProcess {
  constructor(server, [managerFlags, schedulerFlags]) {
    super('components', server, []);
    this.parts = { 'controller-manager': managerFlags, scheduler: schedulerFlags };
  }

  argumentsWith(common) {
    const parts = Object.entries(this.parts).map(([name, flags]) => [name, ...common, ...flags]);
    return [...parts[0], '--', ...parts[1]];
  }
}
