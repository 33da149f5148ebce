/** Real etcd servers for tests: each with its own directory and ports, removed at the end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueCertificate, systemClock } from '@orch/component';
import type { EtcdTls } from '../etcd-options.js';

const startTimeoutMs = 15_000;
/** Members become ready and short leases end quickly. */
const quickFlags = ['--heartbeat-interval=50', '--election-timeout=500'];
/** The largest object of the store, and a commit of several. */
const largeFlags = ['--max-request-bytes=4194304', '--max-txn-ops=1024'];

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            if (typeof address === 'object' && address) resolve(address.port);
          });
        }),
    ),
  );
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
  );
  return ports;
}

interface MemberOptions {
  readonly name: string;
  readonly clientUrl: string;
  readonly peerUrl: string;
  readonly arguments: readonly string[];
}

/** One member, which a test can kill, pause and start again. */
export class EtcdServer {
  private child: ChildProcess | undefined;
  private log = '';

  constructor(
    readonly name: string,
    readonly url: string,
    private readonly command: readonly string[],
  ) {}

  start(): void {
    const [program = 'etcd', ...rest] = this.command;
    this.log = '';
    const child = spawn(program, rest, { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.on('data', (chunk: Buffer) => {
      this.log = (this.log + chunk.toString()).slice(-8_000);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      this.log +=
        error.code === 'ENOENT'
          ? 'etcd is not installed: run node scripts/setup-etcd.mjs, or install etcd-server'
          : error.message;
    });
    this.child = child;
  }

  signal(name: NodeJS.Signals): void {
    this.child?.kill(name);
  }

  async kill(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.pid === undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Resolves when the server accepts clients; rejects with the end of its log. */
  async serving(): Promise<void> {
    const giveUpMs = performance.now() + startTimeoutMs;
    while (!this.log.includes('serving client traffic')) {
      if (this.hasEnded || performance.now() > giveUpMs) {
        throw new Error(`etcd does not start: ${this.log}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  private get hasEnded(): boolean {
    const child = this.child;
    return child === undefined || child.pid === undefined || child.exitCode !== null;
  }
}

/** An empty cluster. */
export class EtcdServers {
  private constructor(
    readonly members: readonly EtcdServer[],
    readonly tls: EtcdTls | undefined,
    private readonly directory: string,
  ) {}

  get endpoints(): string[] {
    return this.members.map(({ url }) => url);
  }

  static async start(
    memberCount: number,
    secure: boolean,
    flags: readonly string[] = [],
  ): Promise<EtcdServers> {
    const directory = await mkdtemp(join(tmpdir(), 'etcd-'));
    const tls = secure ? await writeCertificates(directory) : undefined;
    const scheme = secure ? 'https' : 'http';
    const ports = await freePorts(memberCount * 2);
    const settings = Array.from({ length: memberCount }, (_, at): MemberOptions => {
      const [clientPort, peerPort] = [ports[at * 2], ports[at * 2 + 1]];
      return {
        name: `member-${at}`,
        clientUrl: `${scheme}://127.0.0.1:${clientPort}`,
        peerUrl: `http://127.0.0.1:${peerPort}`,
        arguments: [...flags, ...(secure ? tlsArguments(directory) : [])],
      };
    });
    const members = settings.map(
      (member) =>
        new EtcdServer(member.name, member.clientUrl, commandOf(member, settings, directory)),
    );
    const servers = new EtcdServers(members, tls, directory);
    await servers.start();
    return servers;
  }

  /** Restarts the same servers without data. */
  async replaceByEmpty(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    for (const { name } of this.members) {
      await rm(join(this.directory, name), { recursive: true, force: true });
    }
    await this.start();
  }

  async destroy(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    await rm(this.directory, { recursive: true, force: true });
  }

  private async start(): Promise<void> {
    for (const member of this.members) member.start();
    try {
      for (const member of this.members) await member.serving();
    } catch (error) {
      await this.destroy();
      throw error;
    }
  }
}

function commandOf(
  { name, clientUrl, peerUrl, arguments: rest }: MemberOptions,
  all: readonly MemberOptions[],
  directory: string,
): string[] {
  const initial = all.map((member) => `${member.name}=${member.peerUrl}`).join(',');
  return [
    'etcd',
    `--name=${name}`,
    `--data-dir=${join(directory, name)}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=${initial}`,
    '--logger=zap',
    ...quickFlags,
    ...largeFlags,
    ...rest,
  ];
}

function tlsArguments(directory: string): string[] {
  return [
    `--cert-file=${join(directory, 'server.crt')}`,
    `--key-file=${join(directory, 'server.key')}`,
    `--trusted-ca-file=${join(directory, 'ca.crt')}`,
    '--client-cert-auth',
  ];
}

const hourMs = 3_600_000;

/** An authority, a pair for the servers as files, and one for the client. */
async function writeCertificates(directory: string): Promise<EtcdTls> {
  const authority = await createAuthority('etcd test', hourMs, systemClock);
  const issue = (commonName: string, usages: readonly ('server' | 'client')[]) =>
    issueCertificate(
      authority,
      { commonName, usages, hosts: ['127.0.0.1'], validMs: hourMs },
      systemClock,
    );
  // Its own gateway calls the server with the server's pair.
  const server = await issue('etcd', ['server', 'client']);
  const client = await issue('apiserver', ['client']);
  await writeFile(join(directory, 'ca.crt'), authority.certificatePem);
  await writeFile(join(directory, 'server.crt'), server.certificatePem);
  await writeFile(join(directory, 'server.key'), server.keyPem);
  return {
    authorityPem: Buffer.from(authority.certificatePem),
    certificatePem: Buffer.from(client.certificatePem),
    keyPem: Buffer.from(client.keyPem),
  };
}
