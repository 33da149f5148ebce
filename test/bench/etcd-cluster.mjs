/** etcd servers of Debian's package with TLS for peers and clients and their own directories, fsync on. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Agent, request } from 'undici';
import {
  freePorts,
  makeCertificates,
  makeDirectory,
  removeDirectory,
  until,
} from './bench-files.mjs';
import { cpuUs } from './proc.mjs';

export class EtcdCluster {
  members = new Map();

  static async start(memberCount) {
    const cluster = new EtcdCluster();
    cluster.directory = await makeDirectory('bench-etcd');
    cluster.certificates = await makeCertificates(cluster.directory);
    const { authorityFile, certificateFile, keyFile } = cluster.certificates;
    const [ca, cert, key] = [authorityFile, certificateFile, keyFile].map((file) =>
      readFileSync(file),
    );
    cluster.agent = new Agent({ connect: { ca, cert, key } });
    const ports = await freePorts(memberCount * 2);
    const members = Array.from({ length: memberCount }, (_, at) => ({
      name: `etcd-${at}`,
      clientUrl: `https://127.0.0.1:${ports[at * 2]}`,
      peerUrl: `https://127.0.0.1:${ports[at * 2 + 1]}`,
    }));
    cluster.initial = members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',');
    for (const member of members) cluster.begin(member);
    try {
      await cluster.leader();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  begin({ name, clientUrl, peerUrl }, state = 'new') {
    const { authorityFile, certificateFile, keyFile } = this.certificates;
    const tls = (side) => [
      `--${side}cert-file=${certificateFile}`,
      `--${side}key-file=${keyFile}`,
      `--${side}trusted-ca-file=${authorityFile}`,
      `--${side}client-cert-auth`,
    ];
    const child = spawn(
      'etcd',
      [
        `--name=${name}`,
        `--data-dir=${join(this.directory, name)}`,
        `--listen-client-urls=${clientUrl}`,
        `--advertise-client-urls=${clientUrl}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=${this.initial}`,
        `--initial-cluster-state=${state}`,
        ...tls(''),
        ...tls('peer-'),
        // More than the default of 2 GiB, and what our objects may need.
        '--quota-backend-bytes=8589934592',
        '--max-request-bytes=4194304',
        '--logger=zap',
        '--log-level=error',
      ],
      { stdio: ['ignore', 'ignore', process.env.ORCH_BENCH_VERBOSE ? 'inherit' : 'ignore'] },
    );
    child.on('error', (error) => {
      console.error(`etcd cannot be run: ${error.message}`);
    });
    const member = { name, clientUrl, peerUrl, child, pid: child.pid };
    this.members.set(name, member);
    return member;
  }

  /** One call of its JSON gateway. */
  async call({ clientUrl }, path, body = {}) {
    const answer = await request(`${clientUrl}/v3/${path}`, {
      dispatcher: this.agent,
      method: 'POST',
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    return JSON.parse(text);
  }

  /** Resolves once there is one and all know it. */
  leader() {
    return until('the servers of etcd are ready', async () => {
      let leader;
      for (const member of this.members.values()) {
        const status = await this.call(member, 'maintenance/status');
        if (!status.leader || status.leader === '0') return undefined;
        if (status.leader === status.header.member_id) leader = member;
      }
      return leader;
    });
  }

  async follower() {
    const leader = await this.leader();
    return [...this.members.values()].find((member) => member !== leader);
  }

  cpuUs() {
    let sum = 0;
    for (const { pid } of this.members.values()) sum += cpuUs(pid);
    return sum;
  }

  /** How many keys it has, by a linearizable read; a learner answers serializable ones only. */
  async keyCount(member, serializable = false) {
    const everything = Buffer.from([0]).toString('base64');
    const range = { key: everything, range_end: everything, count_only: true, serializable };
    const { count } = await this.call(member, 'kv/range', range);
    return Number(count ?? 0);
  }

  /** Milliseconds from the start of an ended member's process until it answers a linearizable read. */
  async restart(name) {
    const { child, ...member } = this.members.get(name);
    await end(child);
    const startedMs = performance.now();
    const begun = this.begin(member);
    const keyCount = await until('etcd is ready', () => this.keyCount(begun));
    return { keyCount, durationMs: performance.now() - startedMs };
  }

  async stop() {
    await this.agent.close();
    await Promise.all([...this.members.values()].map(({ child }) => end(child)));
    await removeDirectory(this.directory);
  }
}

async function end(child) {
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}
