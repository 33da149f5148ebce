/** Replica processes with separate directories and mutual TLS between them. */
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { BenchCluster } from './bench-cluster.mjs';
import { freePorts, until } from './bench-files.mjs';
import { Child } from './child.mjs';

export class StoreCluster extends BenchCluster {
  static start(memberCount) {
    return StoreCluster.startNamed('bench-replicas', memberCount);
  }

  async begin(memberCount) {
    const ports = await freePorts(memberCount);
    this.initialMembers = ports.map((port, at) => ({
      name: `member-${at}`,
      peerUrl: `https://127.0.0.1:${port}`,
    }));
    for (const member of this.initialMembers) this.add(member);
  }

  /** Starts a replica process without waiting until it is ready. */
  add({ name, peerUrl }, initialState = 'new') {
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

  /** Returns the leader; undefined unless all replicas are ready. */
  async findLeader() {
    let leader;
    for (const child of this.members.values()) {
      const { role, ready } = await child.run('replica');
      if (!ready) return undefined;
      if (role === 'leader') leader = child;
    }
    return leader;
  }

  /** Restarts a replica; measures the time until it has caught up. */
  async restart(name) {
    const member = this.initialMembers.find((each) => each.name === name);
    await this.members.get(name).stop();
    const startedMs = performance.now();
    const child = this.add(member);
    const { keyCount } = await until('the replica is ready', async () => {
      const status = await child.run('replica');
      return status.ready ? status : undefined;
    });
    return { child, keyCount, durationMs: performance.now() - startedMs };
  }
}
