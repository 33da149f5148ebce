/**
 * What the clusters under measurement share: a directory with certificates, members that are processes,
 * and their end. What a member is, how the first ones are started and who leads is the subclass's.
 */
import { makeCertificates, makeDirectory, removeDirectory, until } from './bench-files.mjs';
import { cpuUs } from './proc.mjs';

export class BenchCluster {
  /** By name; each has the `pid` of its process and can be asked to `stop`. */
  members = new Map();

  /** Resolves when one leads. `name`: of its directory. */
  static async startNamed(name, memberCount) {
    const cluster = new this();
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

  /** Resolves once `findLeader` does with one. */
  leader() {
    return until('one leads and all are ready', () => this.findLeader());
  }

  async follower() {
    const leader = await this.leader();
    return [...this.members.values()].find((member) => member !== leader);
  }

  /** Of all processes, so far. */
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
