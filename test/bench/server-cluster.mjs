/** API server processes, each with a replica, and mutual TLS between them. */
import { BenchCluster } from './bench-cluster.mjs';
import { freePorts, until } from './bench-files.mjs';
import { ServerProcess } from './server-process.mjs';

const namespace = 'bench';
/** Above the number of callers, so that flow control rejects no request. */
const limits = ['--max-requests-inflight=1000', '--max-mutating-requests-inflight=1000'];

export class ServerCluster extends BenchCluster {
  /** The path of an object for reads. */
  objectPath = `/api/v1/namespaces/${namespace}/configmaps/one`;

  /**
   * Starts the servers and creates a namespace with an object of 1 KB. Settings: the built checkout
   * `tree`, more `flags`, and `nodeArguments`.
   */
  static start(memberCount, settings) {
    return ServerCluster.startNamed('bench-servers', memberCount, settings);
  }

  async begin(memberCount) {
    const ports = await freePorts(memberCount);
    const peers = ports.map((port, at) => [`server-${at}`, `https://127.0.0.1:${port}`]);
    this.initial = peers.map((peer) => peer.join('=')).join(',');
    for (const [name, peerUrl] of peers) this.add(name, peerUrl);
    await Promise.all([...this.members.values()].map((server) => server.start()));
    await this.fill();
  }

  add(name, peerUrl, ...more) {
    const { certificateFile, keyFile, authorityFile } = this.certificates;
    const flags = [
      `--member-name=${name}`,
      ...limits,
      `--initial-cluster=${this.initial}`,
      `--listen-peer-url=${peerUrl}`,
      `--peer-cert-file=${certificateFile}`,
      `--peer-key-file=${keyFile}`,
      `--peer-trusted-ca-file=${authorityFile}`,
    ];
    const { flags: added = [], tree, nodeArguments } = this.settings;
    const server = new ServerProcess([...flags, ...added, ...more], tree, nodeArguments);
    this.members.set(name, server);
    return server;
  }

  /** Adds a server that has no vote. Resolves when it serves the object of `objectPath`. */
  async addLearner(name) {
    const leader = await this.leader();
    const [port] = await freePorts(1);
    const peerUrl = `https://127.0.0.1:${port}`;
    await leader.call('POST', '/cluster/members', { name, peerUrl });
    const learner = this.add(name, peerUrl, '--initial-cluster-state=join');
    await learner.start();
    await until('the learner serves', async () => learner.call('GET', this.objectPath));
  }

  async fill() {
    const leader = await this.leader();
    await leader.createNamespace(namespace);
    await leader.call('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: 'one' },
      data: { payload: 'x'.repeat(900) },
    });
  }

  async findLeader() {
    const servers = [...this.members.values()];
    const { members } = JSON.parse(await servers[0].call('GET', '/cluster/status'));
    const leader = members.find(({ role }) => role === 'leader');
    return servers.find(({ pid }) => pid === leader?.pid);
  }
}
