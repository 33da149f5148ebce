/**
 * etcd servers of the Debian package, with TLS for peers and clients, separate directories and
 * fsync.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Agent, request } from 'undici';
import { BenchCluster } from './bench-cluster.mjs';
import { freePorts, until } from './bench-files.mjs';

export class EtcdCluster extends BenchCluster {
  static start(memberCount) {
    return EtcdCluster.startNamed('bench-etcd', memberCount);
  }

  async begin(memberCount) {
    const { authorityFile, certificateFile, keyFile } = this.certificates;
    const [ca, cert, key] = [authorityFile, certificateFile, keyFile].map((file) =>
      readFileSync(file),
    );
    this.agent = new Agent({ connect: { ca, cert, key } });
    const ports = await freePorts(memberCount * 2);
    const members = Array.from({ length: memberCount }, (_, at) => ({
      name: `etcd-${at}`,
      clientUrl: `https://127.0.0.1:${ports[at * 2]}`,
      peerUrl: `https://127.0.0.1:${ports[at * 2 + 1]}`,
    }));
    this.initial = members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',');
    for (const member of members) this.add(member);
  }

  /** Starts a member process without waiting until it is ready. */
  add({ name, clientUrl, peerUrl }, state = 'new') {
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
        // Larger than the default of 2 GiB, which the objects may exceed.
        '--quota-backend-bytes=8589934592',
        '--max-request-bytes=4194304',
        '--logger=zap',
        '--log-level=error',
      ],
      { stdio: ['ignore', 'ignore', process.env.ORCH_BENCH_VERBOSE ? 'inherit' : 'ignore'] },
    );
    child.on('error', (error) => {
      console.error(`cannot run etcd: ${error.message}; install the package etcd-server`);
    });
    const member = { name, clientUrl, peerUrl, pid: child.pid, stop: () => end(child) };
    this.members.set(name, member);
    return member;
  }

  /** Calls the JSON gateway of a member. */
  async call({ clientUrl }, path, body = {}) {
    const response = await request(`${clientUrl}/v3/${path}`, {
      dispatcher: this.agent,
      method: 'POST',
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`);
    return JSON.parse(text);
  }

  /** Returns the leader; undefined unless all members report it. */
  async findLeader() {
    let leader;
    for (const member of this.members.values()) {
      const status = await this.call(member, 'maintenance/status');
      if (!status.leader || status.leader === '0') return undefined;
      if (status.leader === status.header.member_id) leader = member;
    }
    return leader;
  }

  /**
   * Returns the number of keys by a linearizable read; a learner supports only serializable reads.
   */
  async keyCount(member, serializable = false) {
    const everything = Buffer.from([0]).toString('base64');
    const range = { key: everything, range_end: everything, count_only: true, serializable };
    const { count } = await this.call(member, 'kv/range', range);
    return Number(count ?? 0);
  }

  /** Restarts a member; measures the time until it responds to a linearizable read. */
  async restart(name) {
    const member = this.members.get(name);
    await member.stop();
    const startedMs = performance.now();
    const begun = this.add(member);
    const keyCount = await until('etcd is ready', () => this.keyCount(begun));
    return { keyCount, durationMs: performance.now() - startedMs };
  }

  async stop() {
    await this.agent.close();
    await super.stop();
  }
}

async function end(child) {
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}
