/** A cluster of real processes without nodes, and the process of hollow nodes beside it. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { cpuUs, residentBytes } from '../bench/proc.mjs';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const callTimeoutMs = 60_000;
const hollowName = 'hollow-nodes';

export class ScaleCluster {
  directory = mkdtempSync(join(tmpdir(), 'orch-scale-'));

  constructor({ nodes, replicas }) {
    this.nodeCount = nodes;
    this.replicas = replicas;
  }

  async start() {
    this.port = await freePort();
    const args = ['scripts/up.mjs', '--detach', '--data-dir', this.directory];
    args.push('--port', String(this.port), '--replicas', String(this.replicas), '--nodes', '0');
    args.push('--components', 'apiserver,controller-manager,scheduler', '--separate-processes');
    for (const name of ['controller-manager', 'scheduler']) {
      for (const flag of ['qps=1000', 'burst=2000']) {
        args.push(`--component-arg=${name}=--orch-api-${flag}`);
      }
    }
    await run('node', args, { cwd: root });
    this.token = readFileSync(join(this.directory, 'admin.token'), 'utf8').trim();
    const ca = readFileSync(join(this.directory, 'ca.crt'));
    this.agent = new Agent({ connect: { ca }, connections: 64 });
    this.startNodes();
  }

  startNodes() {
    const output = openSync(join(this.directory, 'logs', `${hollowName}.log`), 'a');
    const flags = [
      `--hollow=${this.nodeCount}`,
      '--node-name=sim',
      `--kubeconfig=${join(this.directory, 'kubeconfig')}`,
    ];
    this.hollow = spawn('node', ['dist/apps/node-agent/src/main.js', ...flags], {
      cwd: root,
      stdio: ['ignore', output, output],
    });
  }

  /** The pid of each component by name; components that wait for their restart are missing. */
  pids() {
    const children = JSON.parse(readFileSync(join(this.directory, 'run', 'children.json'), 'utf8'));
    const found = children.flatMap(({ name, identity }) =>
      identity ? [[name, identity.pid]] : [],
    );
    return new Map([...found, [hollowName, this.hollow.pid]]);
  }

  usage() {
    const usage = new Map();
    for (const [name, pid] of this.pids()) {
      usage.set(name, { cpuUs: cpuUs(pid), residentBytes: residentBytes(pid) });
    }
    return usage;
  }

  /** Kills one process; the supervisor restarts components, this class the hollow nodes. */
  async kill(name) {
    process.kill(this.pids().get(name), 'SIGKILL');
    if (name !== hollowName) return;
    if (this.hollow.signalCode === null)
      await new Promise((done) => this.hollow.once('exit', done));
    this.startNodes();
  }

  async call(method, path, body) {
    const response = await request(`https://127.0.0.1:${this.port}${path}`, {
      dispatcher: this.agent,
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(callTimeoutMs),
    });
    const text = await response.body.text();
    if (response.statusCode < 300) return text;
    throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 500)}`);
  }

  async json(method, path, body) {
    return JSON.parse(await this.call(method, path, body));
  }

  async stop() {
    const { hollow } = this;
    if (hollow && hollow.exitCode === null && hollow.signalCode === null) {
      const exited = new Promise((done) => hollow.once('exit', done));
      hollow.kill('SIGTERM');
      await exited;
    }
    await this.agent?.close();
    await run('node', ['scripts/down.mjs', '--data-dir', this.directory], { cwd: root });
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Below the ephemeral ports of the kernel. */
async function freePort() {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = 14_000 + Math.floor(Math.random() * 6_000);
    const isFree = await new Promise((done) => {
      const server = createServer();
      server.once('error', () => done(false));
      server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
    });
    if (isFree) return port;
  }
  throw new Error('no free port found in 100 attempts');
}
