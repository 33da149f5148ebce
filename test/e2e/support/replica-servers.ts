/**
 * Replicated API servers, started with flags as in docs/operations.md, without a supervisor: each
 * has a data directory, certificates and ports that it retains over restarts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { stablePort } from '../../chaos/support/ports.js';
import { encryptionFlags } from '../../conformance/encryption.mjs';
import { PeerCertificates } from './peer-certificates.js';
import { must, type Outcome, repositoryRoot, run } from './process.js';
import { eventually } from './wait.js';

export interface Answer<T = unknown> {
  readonly status: number;
  readonly body: T;
  readonly retryAfter: string | undefined;
}

export interface Server {
  readonly name: string;
  readonly url: string;
  readonly peerUrl: string;
  readonly logFile: string;
  dataDirectory: string;
  /** The last flags, which override the others. */
  flags: string[];
  initialCluster: string;
  initialState: 'new' | 'join';
  child: ChildProcess | undefined;
  /** Exit code or signal of the last exit. */
  ended: string | undefined;
}

export interface MemberStatus {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly healthy: boolean;
  readonly reason?: string;
  readonly term?: number;
  readonly firstIndex?: number;
  readonly appliedIndex?: number;
  readonly revision?: number;
}

export interface ClusterStatus {
  readonly clusterId: string;
  readonly leader: string;
  readonly members: readonly MemberStatus[];
}

/** How much of the end of a log a test reads. */
const logCharactersMax = 100_000;

const token = 'admin-of-the-test';

export class ReplicaServers {
  readonly directory = mkdtempSync(join(tmpdir(), 'orch-replicas-'));
  readonly kubeconfig = join(this.directory, 'kubeconfig');
  readonly servers: Server[] = [];
  private readonly agent: Agent;

  private constructor(
    readonly certificates: PeerCertificates,
    private readonly flags: readonly string[],
    private readonly clusterToken: string,
  ) {
    this.agent = new Agent({ connect: { ca: certificates.authorityPem }, connections: 8 });
    writeFileSync(join(this.directory, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  }

  /** Starts `size` servers as a new cluster and waits until all are ready. */
  static async start(size: number, flags: readonly string[] = []): Promise<ReplicaServers> {
    const replicas = await ReplicaServers.define(size, flags);
    await replicas.startAll();
    return replicas;
  }

  static async define(
    size: number,
    flags: readonly string[] = [],
    clusterToken = 'page',
  ): Promise<ReplicaServers> {
    const replicas = new ReplicaServers(await PeerCertificates.create(), flags, clusterToken);
    for (let ordinal = 1; ordinal <= size; ordinal += 1) await replicas.define(`m${ordinal}`);
    const initialCluster = replicas.initialCluster();
    for (const server of replicas.servers) server.initialCluster = initialCluster;
    return replicas;
  }

  /** A further server, not yet started and not yet a member. */
  async define(name: string): Promise<Server> {
    await this.certificates.issue(name);
    const server: Server = {
      name,
      url: `https://127.0.0.1:${await stablePort()}`,
      peerUrl: `https://127.0.0.1:${await stablePort()}`,
      logFile: join(this.directory, `${name}.log`),
      dataDirectory: join(this.directory, `data-${name}`),
      flags: [],
      initialCluster: '',
      initialState: 'new',
      child: undefined,
      ended: undefined,
    };
    this.servers.push(server);
    this.writeKubeconfig();
    return server;
  }

  /** The value of `--initial-cluster`: the running servers, or all if none runs. */
  initialCluster(): string {
    const running = this.running();
    return (running.length > 0 ? running : this.servers)
      .map(({ name, peerUrl }) => `${name}=${peerUrl}`)
      .join(',');
  }

  launch(server: Server): void {
    if (server.child) throw new Error(`${server.name} runs already`);
    const log = openSync(server.logFile, 'a');
    const child = spawn(
      process.execPath,
      ['dist/apps/apiserver/src/main.js', ...this.args(server)],
      {
        cwd: repositoryRoot,
        stdio: ['ignore', log, log],
      },
    );
    closeSync(log);
    server.child = child;
    server.ended = undefined;
    child.on('exit', (code, signal) => {
      server.child = undefined;
      server.ended = signal ?? String(code);
    });
  }

  private args(server: Server): string[] {
    const { certificateFile, keyFile } = this.certificates.files(server.name);
    const { authorityFile } = this.certificates;
    return [
      `--data-dir=${server.dataDirectory}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${new URL(server.url).port}`,
      `--token-auth-file=${join(this.directory, 'tokens.csv')}`,
      `--tls-cert-file=${certificateFile}`,
      `--tls-private-key-file=${keyFile}`,
      `--member-name=${server.name}`,
      `--initial-cluster=${server.initialCluster}`,
      `--initial-cluster-state=${server.initialState}`,
      `--initial-cluster-token=${this.clusterToken}`,
      `--listen-peer-url=${server.peerUrl}`,
      `--peer-cert-file=${certificateFile}`,
      `--peer-key-file=${keyFile}`,
      `--peer-trusted-ca-file=${authorityFile}`,
      ...encryptionFlags('orch'),
      ...this.flags,
      ...server.flags,
    ];
  }

  async startAll(): Promise<void> {
    for (const server of this.servers) if (!server.child) this.launch(server);
    await Promise.all(this.running().map((server) => this.ready(server)));
  }

  running(): Server[] {
    return this.servers.filter(({ child }) => child);
  }

  async ready(server: Server): Promise<void> {
    await eventually(`${server.name} to be ready`, async () => {
      if (!server.child) throw new Error(`it ended with ${server.ended}: ${this.logOf(server)}`);
      const { status, body } = await this.call<string>(server, 'GET', '/readyz?verbose');
      if (status !== 200) throw new Error(body);
      return true;
    });
  }

  /** Sends the signal and resolves with how the server ended. */
  async end(server: Server, signal: NodeJS.Signals): Promise<string> {
    server.child?.kill(signal);
    return this.untilEnded(server);
  }

  untilEnded(server: Server): Promise<string> {
    return eventually(`the end of ${server.name}`, () => !server.child && server.ended);
  }

  /** Rejects unless the complete response arrives in time. */
  async call<T = unknown>(
    server: Server,
    method: string,
    path: string,
    body?: unknown,
    timeoutMs = 20_000,
  ): Promise<Answer<T>> {
    const answer = await request(`${server.url}${path}`, {
      method: method as 'GET',
      dispatcher: this.agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await answer.body.text();
    // A watch has a line for each event, which the caller parses.
    const isJson =
      !path.includes('watch=1') &&
      String(answer.headers['content-type']).startsWith('application/json');
    const retryAfter = answer.headers['retry-after'];
    return {
      status: answer.statusCode,
      body: (isJson ? JSON.parse(text) : text) as T,
      retryAfter: retryAfter === undefined ? undefined : String(retryAfter),
    };
  }

  async status(server = this.running()[0]!): Promise<ClusterStatus> {
    return (await this.call<ClusterStatus>(server, 'GET', '/cluster/status')).body;
  }

  /** The running server that all running servers report as leader. */
  leader(): Promise<Server> {
    return eventually('one leader', async () => {
      const views = await Promise.all(this.running().map((server) => this.status(server)));
      const ids = new Set(views.map(({ leader }) => leader));
      const member = views[0]?.members.find(({ id }) => ids.size === 1 && ids.has(id));
      return this.running().find(({ name }) => name === member?.name);
    });
  }

  async followers(): Promise<Server[]> {
    const leader = await this.leader();
    return this.running().filter((server) => server !== leader);
  }

  orchctl(...args: string[]): Promise<Outcome> {
    return run('node', this.commandLine(args));
  }

  /** Returns the output; an exit code other than 0 is an error. */
  orchctlMust(...args: string[]): Promise<string> {
    return must('node', this.commandLine(args));
  }

  private commandLine(args: readonly string[]): string[] {
    return ['dist/apps/orchctl/src/main.js', ...args, '--kubeconfig', this.kubeconfig];
  }

  private writeKubeconfig(): void {
    const servers = this.servers.map(({ url }) => url);
    const cluster = {
      server: servers[0],
      'certificate-authority': this.certificates.authorityFile,
      extensions: [{ name: 'endpoints', extension: { servers } }],
    };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(this.kubeconfig, JSON.stringify(config));
  }

  /** The end of the server's log. */
  logOf(server: Server): string {
    return readFileSync(server.logFile, 'utf8').slice(-logCharactersMax);
  }

  async destroy(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.child && this.end(server, 'SIGKILL')));
    await this.agent.destroy();
    this.certificates.remove();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
