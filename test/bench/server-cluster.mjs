/** API server processes, each with a replica, and mutual TLS between them. */
import { BenchCluster } from './bench-cluster.mjs';
import { freePorts } from './bench-files.mjs';
import { ServerProcess } from './server-process.mjs';

const namespace = 'bench';
/** Above the number of callers, so that flow control rejects no request. */
const limits = ['--max-requests-inflight=1000', '--max-mutating-requests-inflight=1000'];

export class ServerCluster extends BenchCluster {
  /** The path of an object for reads. */
  objectPath = `/api/v1/namespaces/${namespace}/configmaps/one`;

  /** Starts the servers and creates a namespace with an object of 1 KB. */
  static start(memberCount) {
    return ServerCluster.startNamed('bench-servers', memberCount);
  }

  async begin(memberCount) {
    const { certificateFile, keyFile, authorityFile } = this.certificates;
    const ports = await freePorts(memberCount);
    const members = ports.map((port, at) => `server-${at}=https://127.0.0.1:${port}`);
    for (const member of members) {
      const [name, peerUrl] = member.split('=');
      const flags = [`--member-name=${name}`, ...limits];
      if (memberCount > 1) {
        flags.push(
          `--initial-cluster=${members.join(',')}`,
          `--listen-peer-url=${peerUrl}`,
          `--peer-cert-file=${certificateFile}`,
          `--peer-key-file=${keyFile}`,
          `--peer-trusted-ca-file=${authorityFile}`,
        );
      }
      this.members.set(name, new ServerProcess(flags));
    }
    await Promise.all([...this.members.values()].map((server) => server.start()));
    await this.fill();
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
