/**
 * The base class of measured clusters: a directory with certificates, and member processes.
 * Subclasses define the members, start the first ones and find the leader.
 */
import { makeCertificates, makeDirectory, removeDirectory, until } from './bench-files.mjs';
import { cpuUs } from './proc.mjs';

export class BenchCluster {
  /** Members by name; each has the `pid` of its process and a method `stop`. */
  members = new Map();

  /**
   * Starts a cluster; resolves when it has a leader. `name` is the prefix of its directory, the
   * subclass defines the `settings`.
   */
  static async startNamed(name, memberCount, settings = {}) {
    const cluster = new this();
    cluster.settings = settings;
    cluster.directory = await makeDirectory(name);
    cluster.certificates = await makeCertificates(cluster.directory);
    try {
      await cluster.begin(memberCount);
      await cluster.leader();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Resolves with the leader when all members are ready. */
  leader() {
    return until('the cluster has a leader', () => this.findLeader());
  }

  async follower() {
    const leader = await this.leader();
    return [...this.members.values()].find((member) => member !== leader);
  }

  /** Returns the CPU time of all processes so far. */
  cpuUs() {
    let sum = 0;
    for (const { pid } of this.members.values()) sum += cpuUs(pid);
    return sum;
  }

  async stop() {
    await Promise.all([...this.members.values()].map((member) => member.stop()));
    await removeDirectory(this.directory);
  }
}
