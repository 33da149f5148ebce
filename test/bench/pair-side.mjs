/** One of the two sides of a comparison: one server, or three with their replicas, and loads. */
import { Load } from './load.mjs';
import { ServerCluster } from './server-cluster.mjs';
import { ServerProcess } from './server-process.mjs';

const namespaces = ['created', 'read', 'listed', 'watched'];

export class PairSide {
  /**
   * Starts the servers of the built checkout `tree` and creates `listedCount` objects; with several
   * servers, requests go to the leader, and those of `atFollower` to another server.
   */
  static async start(tree, { replicaCount, flags, nodeArguments, listedCount }) {
    const side = new PairSide();
    const startedMs = performance.now();
    if (replicaCount > 1) {
      side.cluster = await ServerCluster.start(replicaCount, { tree, flags, nodeArguments });
      side.server = await side.cluster.leader();
      side.followerLoad = new Load({ ...(await side.cluster.follower()), prefix: 'follower' });
    } else {
      side.server = new ServerProcess(flags, tree, nodeArguments);
      await side.server.start();
    }
    side.startMs = performance.now() - startedMs;
    await side.fill(listedCount);
    return side;
  }

  async fill(listedCount) {
    const { server } = this;
    this.load = new Load(server);
    this.writer = new Load(server);
    await Promise.all([this.load.ready, this.writer.ready, this.followerLoad?.ready]);
    for (const name of namespaces) await server.createNamespace(name);
    await server.call('POST', '/api/v1/namespaces/read/configmaps', {
      metadata: { name: 'one' },
      data: { payload: 'x'.repeat(900) },
    });
    const objectCount = listedCount;
    await this.load.run('fill', { create: 'listed', objectCount, connectionCount: 64 });
  }

  /** CPU time of all servers so far. */
  cpuUs() {
    return (this.cluster ?? this.server).cpuUs();
  }

  megabytes() {
    return this.server.residentBytes() / 1e6;
  }

  async stop() {
    await Promise.all([this.load, this.writer, this.followerLoad].map((load) => load?.stop()));
    await (this.cluster ?? this.server).stop();
  }
}
