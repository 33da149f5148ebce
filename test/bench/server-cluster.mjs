/** API servers as processes of their own, each a replica, mutual TLS between them. */
import {
  freePorts,
  makeCertificates,
  makeDirectory,
  removeDirectory,
  until,
} from './bench-files.mjs';
import { ServerProcess } from './server-process.mjs';

const namespace = 'bench';
/** More than there are callers: what is measured is not who is turned away. */
const limits = ['--max-requests-inflight=1000', '--max-mutating-requests-inflight=1000'];

export class ServerCluster {
  /** Of one object, for reads. */
  objectPath = `/api/v1/namespaces/${namespace}/configmaps/one`;

  /** Resolves when all are ready and there is a namespace with an object of 1 KB. */
  static async start(memberCount) {
    const cluster = new ServerCluster();
    cluster.directory = await makeDirectory('bench-servers');
    const { certificateFile, keyFile, authorityFile } = await makeCertificates(cluster.directory);
    const ports = await freePorts(memberCount);
    const members = ports.map((port, at) => `server-${at}=https://127.0.0.1:${port}`);
    cluster.servers = members.map((member) => {
      const [name, peerUrl] = member.split('=');
      const own = [`--member-name=${name}`, ...limits];
      if (memberCount === 1) return new ServerProcess(own);
      return new ServerProcess([
        ...own,
        `--initial-cluster=${members.join(',')}`,
        `--listen-peer-url=${peerUrl}`,
        `--peer-cert-file=${certificateFile}`,
        `--peer-key-file=${keyFile}`,
        `--peer-trusted-ca-file=${authorityFile}`,
      ]);
    });
    try {
      await Promise.all(cluster.servers.map((server) => server.start()));
      await cluster.#fill();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  async #fill() {
    const leader = await this.leader();
    await leader.createNamespace(namespace);
    await leader.call('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: 'one' },
      data: { payload: 'x'.repeat(900) },
    });
  }

  leader() {
    return until('an API server leads', async () => {
      const [first] = this.servers;
      const { members } = JSON.parse(await first.call('GET', '/cluster/status'));
      const leader = members.find(({ role }) => role === 'leader');
      return this.servers.find(({ child }) => child.pid === leader?.pid);
    });
  }

  async follower() {
    const leader = await this.leader();
    return this.servers.find((server) => server !== leader);
  }

  cpuUs() {
    return this.servers.reduce((sum, server) => sum + server.cpuUs(), 0);
  }

  async stop() {
    await Promise.all(this.servers.map((server) => server.stop()));
    await removeDirectory(this.directory);
  }
}
