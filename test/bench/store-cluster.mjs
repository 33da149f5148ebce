/** Replicas of ours, each a process with its own directory, mutual TLS between them. */
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import {
  freePorts,
  makeCertificates,
  makeDirectory,
  removeDirectory,
  until,
} from './bench-files.mjs';
import { Child } from './child.mjs';
import { cpuUs } from './proc.mjs';

export class StoreCluster {
  /** By name. */
  members = new Map();

  static async start(memberCount) {
    const cluster = new StoreCluster();
    cluster.directory = await makeDirectory('bench-replicas');
    cluster.certificates = await makeCertificates(cluster.directory);
    const ports = await freePorts(memberCount);
    cluster.initialMembers = ports.map((port, at) => ({
      name: `member-${at}`,
      peerUrl: `https://127.0.0.1:${port}`,
    }));
    for (const member of cluster.initialMembers) cluster.begin(member);
    try {
      await cluster.leader();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Begins a process; the replica is up when it answers. */
  begin({ name, peerUrl }, initialState = 'new') {
    const { authorityFile, ...files } = this.certificates;
    const alone = initialState === 'new' && this.initialMembers.length === 1;
    const certificates = { ...files, authoritiesFile: authorityFile };
    const replica = {
      dataDirectory: join(this.directory, name),
      identity: {
        memberName: name,
        peerUrl,
        clientUrl: 'https://127.0.0.1:6443',
        initialMembers: this.initialMembers,
        initialState,
        clusterToken: 'bench',
      },
      ...(!alone && { network: { listenUrl: peerUrl, certificates } }),
    };
    const profile = process.env.ORCH_BENCH_PROFILE;
    const execArgv = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}/${name}`] : [];
    const child = new Child('store-member.mjs', { replica }, execArgv);
    this.members.set(name, child);
    return child;
  }

  /** Resolves once there is one and all are ready. */
  leader() {
    return until('the replicas are ready', async () => {
      let leader;
      for (const child of this.members.values()) {
        const { role, ready } = await child.run('replica');
        if (!ready) return undefined;
        if (role === 'leader') leader = child;
      }
      return leader;
    });
  }

  async follower() {
    const leader = await this.leader();
    return [...this.members.values()].find((child) => child !== leader);
  }

  /** Of all processes, so far. */
  cpuUs() {
    let sum = 0;
    for (const { pid } of this.members.values()) sum += cpuUs(pid);
    return sum;
  }

  /** Milliseconds from the start of an ended member's process until it has what the others have. */
  async restart(name) {
    const member = this.initialMembers.find((each) => each.name === name);
    await this.members.get(name).stop();
    const startedMs = performance.now();
    const child = this.begin(member);
    const { keyCount } = await until('the replica is ready', async () => {
      const status = await child.run('replica');
      return status.ready ? status : undefined;
    });
    return { child, keyCount, durationMs: performance.now() - startedMs };
  }

  async stop() {
    await Promise.all([...this.members.values()].map((child) => child.stop()));
    await removeDirectory(this.directory);
  }
}
