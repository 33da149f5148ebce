/**
 * A cluster of real API servers for one run: directories, certificates, ports, processes, and a
 * proxy for all peer traffic, which can interrupt or delay each direction of each pair of members.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectionPath } from '../load/keys.js';
import { Certificates } from './certificates.js';
import { FaultProxy } from './fault-proxy.js';
import { Operator } from './operator.js';
import { stablePort } from './ports.js';
import { apiServerMain } from './repository.js';
import { adminToken, ServerClient } from './server-client.js';
import { ServerProcess } from './server-process.js';
import { SmallDisk } from './small-disk.js';
import { eventually } from './wait.js';

export interface ClusterOptions {
  /** Voters. */
  readonly size: number;
  /** Program of every server. Default: the built one. */
  readonly program?: string;
  /** Further flags of every server. */
  readonly flags?: readonly string[];
  /** Gives every member its own disk of this size. */
  readonly smallDiskMebibytes?: number;
  readonly token?: string;
  /** Certificates of another cluster. Default: its own. */
  readonly certificates?: Certificates;
}

export interface Member {
  readonly name: string;
  readonly process: ServerProcess;
  readonly url: string;
  /** Address for the other members, through the proxy. */
  readonly peerUrl: string;
  dataDirectory: string;
  /** Program, flags, environment and wrapper of its next starts; scenarios change them. */
  program: string;
  flags: string[];
  env: Record<string, string>;
  wrapper: string[];
  initialState: 'new' | 'join';
  /** Whether it was removed: it is neither checked nor started again at the end. */
  isRetired: boolean;
  readonly listenPeerPort: number;
  /** Target of the proxy for its address. */
  readonly peerTarget: { host: string; port: number };
}

const readyTimeoutMs = 120_000;
/** Long enough for two elections, short enough to get responses without a quorum. */
const requestTimeout = '6s';

export class ChaosCluster {
  readonly members: Member[] = [];
  readonly proxy: FaultProxy;
  readonly client: ServerClient;
  readonly operator: Operator;
  /** The first members, as `--initial-cluster` names them. */
  founders = '';
  private readonly disks = new Map<string, SmallDisk>();

  private constructor(
    readonly directory: string,
    private readonly options: ClusterOptions,
    readonly certificates: Certificates,
    random: () => number,
  ) {
    this.proxy = new FaultProxy({ random });
    this.client = new ServerClient(certificates.authorityPem, 8);
    this.operator = new Operator(this.client, () => this.responsive().map(({ url }) => url));
  }

  static async create(
    directory: string,
    options: ClusterOptions,
    random: () => number,
  ): Promise<ChaosCluster> {
    mkdirSync(join(directory, 'logs'), { recursive: true });
    const certificates =
      options.certificates ?? (await Certificates.create(join(directory, 'pki')));
    await certificates.issue('serving');
    writeFileSync(join(directory, 'tokens.csv'), `${adminToken},admin,admin,"system:masters"\n`);
    const cluster = new ChaosCluster(directory, options, certificates, random);
    for (let ordinal = 1; ordinal <= options.size; ordinal += 1) {
      await cluster.define(`m${ordinal}`, 'new');
    }
    cluster.founders = cluster.members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',');
    return cluster;
  }

  /** Creates a member that does not run yet. A joining one must be added to the cluster first. */
  async define(name: string, initialState: 'new' | 'join'): Promise<Member> {
    await this.certificates.issue(`${name}-peer`);
    const listenPeerPort = await stablePort();
    const port = await stablePort();
    const peerTarget = { host: '127.0.0.1', port: listenPeerPort };
    const proxyPort = await this.proxy.listen(name, peerTarget, await stablePort());
    const { smallDiskMebibytes } = this.options;
    let parent = this.directory;
    if (smallDiskMebibytes !== undefined) {
      const disk = SmallDisk.mount(join(this.directory, `disk-${name}`), smallDiskMebibytes);
      this.disks.set(name, disk);
      parent = disk.directory;
    }
    const member: Member = {
      name,
      process: new ServerProcess(name, join(this.directory, 'logs', `${name}.log`), (pid) =>
        this.proxy.identify(name, pid),
      ),
      url: `https://127.0.0.1:${port}`,
      peerUrl: `https://127.0.0.1:${proxyPort}`,
      dataDirectory: join(parent, `data-${name}`),
      program: this.options.program ?? apiServerMain,
      flags: [...(this.options.flags ?? [])],
      env: {},
      wrapper: [],
      initialState,
      isRetired: false,
      listenPeerPort,
      peerTarget,
    };
    this.members.push(member);
    return member;
  }

  /** Starts the process of a member. */
  launch(member: Member): void {
    const pki = (name: string) => this.certificates.files(name);
    const peer = pki(`${member.name}-peer`);
    const serving = pki('serving');
    const args = [
      `--data-dir=${member.dataDirectory}`,
      `--secure-port=${new URL(member.url).port}`,
      '--bind-address=127.0.0.1',
      `--member-name=${member.name}`,
      `--initial-cluster=${this.founders}`,
      `--initial-cluster-state=${member.initialState}`,
      `--initial-cluster-token=${this.options.token ?? 'chaos'}`,
      `--listen-peer-url=https://127.0.0.1:${member.listenPeerPort}`,
      `--advertise-peer-url=${member.peerUrl}`,
      `--peer-cert-file=${peer.certificate}`,
      `--peer-key-file=${peer.key}`,
      `--peer-trusted-ca-file=${this.certificates.authorityFile}`,
      `--tls-cert-file=${serving.certificate}`,
      `--tls-private-key-file=${serving.key}`,
      `--token-auth-file=${join(this.directory, 'tokens.csv')}`,
      `--request-timeout=${requestTimeout}`,
    ];
    // The last of two equal flags takes effect.
    const { program, flags, env, wrapper } = member;
    member.process.start({ program, args: [...args, ...flags], env, wrapper });
  }

  async startAll(): Promise<void> {
    for (const member of this.current()) if (!member.process.isRunning) this.launch(member);
    await this.ready();
  }

  /** Returns the members that must be available at the end. */
  current(): Member[] {
    return this.members.filter(({ isRetired }) => !isRetired);
  }

  /** Returns the members that may respond now. */
  responsive(): Member[] {
    return this.current().filter(({ process: { isRunning, isPaused } }) => isRunning && !isPaused);
  }

  smallDisk({ name }: Member): SmallDisk {
    const disk = this.disks.get(name);
    if (!disk) throw new Error(`${name} has no small disk`);
    return disk;
  }

  async ready(members = this.responsive(), timeoutMs = readyTimeoutMs): Promise<void> {
    for (const { name, url, process } of members) {
      let last = '';
      try {
        await eventually(`${name} to be ready`, timeoutMs, async () => {
          if (!process.isRunning) throw new Error(`${name} ended with ${process.lastExit}`);
          const { status, text } = await this.operator.health(url, '/readyz?verbose');
          last = text;
          return status === 200;
        });
      } catch (error) {
        throw new Error(`${(error as Error).message}; end of its log: ${last}`, { cause: error });
      }
    }
  }

  /** Returns the present revision by a quorum read. Throws NoResponse. */
  async revision({ url }: Member): Promise<number> {
    const path = `${url}${collectionPath('configmaps')}?limit=1`;
    const { status, body } = await this.client.send('GET', path);
    if (status !== 200) throw new Error(`list: ${status} ${JSON.stringify(body)}`);
    const { metadata } = body as { metadata: { resourceVersion: string } };
    return Number(metadata.resourceVersion);
  }

  /** Waits for a leader, as reported by any member. */
  leader(timeoutMs = 30_000): Promise<Member> {
    return eventually('a leader', timeoutMs, async () => {
      const leader = await this.operator.leader();
      return leader && this.members.find(({ name }) => name === leader.name);
    });
  }

  async followers(): Promise<Member[]> {
    const leader = await this.leader();
    return this.current().filter((member) => member !== leader);
  }

  /** Ends every process, whatever state it is in. */
  async destroy(): Promise<void> {
    await Promise.all(this.members.map(({ process }) => process.kill()));
    await this.proxy.close();
    await this.client.close();
    for (const disk of this.disks.values()) disk.unmount();
  }
}
