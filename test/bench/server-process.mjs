/** The built API server in a child process, with its CPU time, memory and event loop delay. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Agent, request } from 'undici';
import { freePorts, makeDirectory, removeDirectory } from './bench-files.mjs';
import { nodeEnvironmentOf, nodeOf } from './node-of.mjs';
import { cpuUs, forgetPeak, peakBytes, residentBytes } from './proc.mjs';

const ownTree = resolve(import.meta.dirname, '../..');
const readyPollMs = 5;
const readyTimeoutMs = 60_000;
export class ServerProcess {
  token = 'bench';
  /** Lines of the token file for other users than the administrator. */
  users = [];
  agent = new Agent({ connect: { rejectUnauthorized: false } });

  /**
   * `flags` are added to the common flags; `tree` is the built checkout of the server;
   * `nodeArguments` are added to those of `ORCH_BENCH_NODE_ARGS`.
   */
  constructor(flags = [], tree = ownTree, nodeArguments = []) {
    this.flags = flags;
    this.tree = tree;
    this.nodeArguments = nodeArguments;
  }

  /**
   * Starts the server; returns the milliseconds until it is ready. `ORCH_BENCH_NODE_ARGS` can
   * enable profiling.
   */
  async start() {
    this.directory = await makeDirectory('bench-server');
    const tokenFile = join(this.directory, 'tokens.csv');
    const administrator = `${this.token},bench,bench,system:masters`;
    writeFileSync(tokenFile, [administrator, ...this.users, ''].join('\n'));
    [this.port] = await freePorts(1);
    this.url = `https://127.0.0.1:${this.port}`;
    const nodeArguments = (process.env.ORCH_BENCH_NODE_ARGS ?? '').split(' ').filter(Boolean);
    const env = await nodeEnvironmentOf(this.tree);
    const startedMs = performance.now();
    this.child = spawn(
      nodeOf(this.tree),
      [
        ...nodeArguments,
        ...this.nodeArguments,
        join(this.tree, 'dist/apps/apiserver/src/main.js'),
        `--data-dir=${join(this.directory, 'data')}`,
        `--secure-port=${this.port}`,
        '--bind-address=127.0.0.1',
        `--token-auth-file=${tokenFile}`,
        '--log-level=error',
        ...this.flags,
      ],
      { env, stdio: ['ignore', 'inherit', 'inherit'] },
    );
    while (!(await this.isReady())) {
      if (this.child.exitCode !== null || performance.now() - startedMs > readyTimeoutMs) {
        throw new Error('the server did not start; has `npm run build` been run?');
      }
      await new Promise((done) => setTimeout(done, readyPollMs));
    }
    return performance.now() - startedMs;
  }

  async isReady() {
    try {
      const { statusCode, body } = await request(`${this.url}/readyz`, { dispatcher: this.agent });
      await body.dump();
      return statusCode === 200;
    } catch {
      // Not listening yet.
      return false;
    }
  }

  get pid() {
    return this.child.pid;
  }

  cpuUs() {
    return cpuUs(this.pid);
  }

  residentBytes() {
    return residentBytes(this.pid);
  }

  peakBytes() {
    return peakBytes(this.pid);
  }

  forgetPeak() {
    forgetPeak(this.pid);
  }

  /** Returns p99 and maximum of the event loop delay since the previous call. */
  async loopDelay() {
    const text = await this.call('GET', '/metrics');
    const [p99Ms, maxMs] = ['p99', 'max'].map((which) => {
      const found = new RegExp(`^nodejs_eventloop_lag_${which}_seconds (\\S+)`, 'm').exec(text);
      return Number(found[1]) * 1_000;
    });
    return { p99Ms, maxMs };
  }

  async call(method, path, body, contentType = 'application/json') {
    const response = await request(this.url + path, {
      dispatcher: this.agent,
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body !== undefined && { 'content-type': contentType }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) {
      throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    }
    return text;
  }

  async createNamespace(name) {
    await this.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }

  async stop() {
    await this.agent.close();
    if (this.child?.exitCode === null) {
      const ended = new Promise((done) => this.child.once('exit', done));
      this.child.kill('SIGTERM');
      await ended;
    }
    await removeDirectory(this.directory);
  }
}
