/**
 * Measures commits and quorum reads per second of one and three replicas, and of the same number of
 * etcd servers on the same disk. The kinds run alternately, so that other load of the machine
 * affects all of them; the best round counts. Compare only rows of the same group:  - in the
 * process: the store, called in the leader's process, as an API server calls it;  - store on etcd:
 * the same calls of the same interface with the etcd backend, in a separate process;  - plain
 * client of etcd: minimal gRPC calls from a separate process;  - HTTPS: an HTTPS client of the API
 * server in a separate process.
 */
import { Child } from './child.mjs';
import { EtcdCluster } from './etcd-cluster.mjs';
import { Load } from './load.mjs';
import { cpuUs } from './proc.mjs';
import { count, printRow } from './row.mjs';
import { ServerCluster } from './server-cluster.mjs';
import { StoreCluster } from './store-cluster.mjs';

/**
 * The largest number first, so that the code is warm for few callers, as in a long-running server.
 */
const callerCounts = [256, 32, 1];

/** Runs the parts that `--only=commits|reads` selects. */
export async function benchRates({
  short,
  only,
  rounds = short ? 1 : 3,
  seconds = short ? 0.5 : 2,
}) {
  for (const memberCount of [1, 3]) {
    const of = memberCount === 1 ? 'one' : 'three';
    const parts = await startAll(memberCount);
    try {
      const settings = { rounds, seconds };
      if (only('commits')) {
        for (const callers of callerCounts) {
          await race(
            `commit 1 KB, ${of}, ${callers} writers`,
            callers,
            commitKinds(parts),
            settings,
          );
        }
      }
      if (only('reads')) {
        for (const callers of callerCounts) {
          const name = `quorum read, ${of}, ${callers} readers`;
          await race(`${name}, at the leader`, callers, readKinds(parts, 'leader'), settings);
          if (memberCount === 1) continue;
          await race(`${name}, at a follower`, callers, readKinds(parts, 'follower'), settings);
        }
      }
    } finally {
      await parts.stop();
    }
  }
}

/** Starts the clusters of one size, and clients of the leader and of a follower. */
async function startAll(memberCount) {
  const ends = [];
  const stop = async () => {
    for (const end of ends.reverse()) await end();
  };
  const started = (part) => {
    ends.push(() => part.stop());
    return part;
  };
  try {
    const replicas = started(await StoreCluster.start(memberCount));
    const servers = started(await ServerCluster.start(memberCount));
    const etcd = started(await EtcdCluster.start(memberCount));
    const parts = { replicas, servers, etcd, loads: {}, plain: {}, onEtcd: {}, stop };
    for (const role of memberCount === 1 ? ['leader'] : ['leader', 'follower']) {
      const { clientUrl } = await etcd[role]();
      parts.loads[role] = started(new Load(await servers[role]()));
      await parts.loads[role].ready;
      const plain = { endpoint: clientUrl, ...etcd.certificates };
      parts.plain[role] = started(new Child('etcd-load-process.mjs', plain));
      const onEtcd = { etcd: { endpoints: [clientUrl], ...etcd.certificates } };
      parts.onEtcd[role] = started(new Child('store-member.mjs', onEtcd));
    }
    return parts;
  } catch (error) {
    await stop();
    throw error;
  }
}

function commitKinds({ replicas, servers, etcd, loads, plain, onEtcd }) {
  return {
    'in the process': {
      servers: replicas,
      run: async (settings) => (await replicas.leader()).run('commits', settings),
    },
    'store on etcd': etcdKind(etcd, onEtcd.leader, 'commits'),
    'plain client of etcd': etcdKind(etcd, plain.leader, 'commits'),
    HTTPS: { servers, run: httpRun(loads.leader, { create: 'bench' }) },
  };
}

function readKinds({ replicas, servers, etcd, loads, plain, onEtcd }, role) {
  return {
    'in the process': {
      servers: replicas,
      run: async (settings) => (await replicas[role]()).run('reads', settings),
    },
    'store on etcd': etcdKind(etcd, onEtcd[role], 'reads'),
    'plain client of etcd': etcdKind(etcd, plain[role], 'reads'),
    HTTPS: { servers, run: httpRun(loads[role], { request: { path: servers.objectPath } }) },
  };
}

function etcdKind(servers, child, command) {
  return { servers, client: child, run: (settings) => child.run(command, settings) };
}

function httpRun(load, what) {
  return async ({ callers, seconds }) => {
    const runMs = seconds * 1_000;
    const figures = await load.run('load', {
      ...what,
      connectionCount: callers,
      requestsMin: callers,
      runMs,
    });
    return {
      ...figures,
      count: figures.requestCount,
      perSecond: figures.requestCount / figures.seconds,
    };
  };
}

async function race(name, callers, kinds, { rounds, seconds }) {
  const best = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, { servers, client, run }] of Object.entries(kinds)) {
      if (round === 0) await run({ callers, seconds });
      const before = servers.cpuUs();
      const clientBefore = client ? cpuUs(client.pid) : 0;
      const figures = await run({ callers, seconds });
      const serverUs = (servers.cpuUs() - before) / figures.count;
      const clientUs = client && (cpuUs(client.pid) - clientBefore) / figures.count;
      if (figures.perSecond > (best.get(kind)?.perSecond ?? 0)) {
        best.set(kind, { ...figures, serverUs, clientUs });
      }
    }
  }
  console.log(`${name}:`);
  for (const [kind, figures] of best) {
    const client = figures.clientUs === undefined ? '' : ` + ${figures.clientUs.toFixed(0)} client`;
    printRow(
      `  ${kind}`,
      `${count(figures.perSecond)}/s`,
      `p50 ${figures.p50Ms.toFixed(2)} ms, p99 ${figures.p99Ms.toFixed(2)} ms, CPU ${figures.serverUs.toFixed(0)}${client} us`,
    );
  }
}
