/** Clusters of API servers: voters, and servers without a vote that take a share of the reads. */
import { Load } from '../load.mjs';
import { ServerCluster } from '../server-cluster.mjs';
import { megabytes, named, rate } from './rates.mjs';

const connectionCount = 32;

async function withCluster(replicas, measure) {
  const cluster = await ServerCluster.start(replicas);
  const loads = [];
  try {
    await measure(cluster, async (server) => {
      const load = new Load({ ...server, prefix: `object-${loads.length}` });
      loads.push(load);
      await load.ready;
      return load;
    });
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
    await cluster.stop();
  }
}

/** The largest of the servers. */
function memoryMb({ members }) {
  return Math.max(...[...members.values()].map((server) => megabytes(server.residentBytes())));
}

/** Calls `add` with each point. */
export async function measureReplicas({ sizes, runMs, warmUpMs }, add) {
  for (const replicas of sizes) {
    await withCluster(replicas, async (cluster, open) => {
      const leader = await open(await cluster.leader());
      const creates = { create: 'bench', connectionCount };
      await rate(cluster, leader, { ...creates, runMs: warmUpMs });
      const create = await rate(cluster, leader, { ...creates, runMs });
      const other = replicas === 1 ? leader : await open(await cluster.follower());
      const gets = { request: { path: cluster.objectPath }, connectionCount };
      await rate(cluster, other, { ...gets, runMs: warmUpMs / 4 });
      const read = await rate(cluster, other, { ...gets, runMs });
      const figures = { ...named('create', create), ...named('get', read) };
      add({ replicas, ...figures, memoryMb: memoryMb(cluster) });
    });
  }
}

/** Reads from all servers, concurrently. */
async function readEverywhere(cluster, loads, path, runMs) {
  const settings = {
    request: { path },
    connectionCount: Math.ceil(connectionCount / loads.length),
    runMs,
    requestsMin: 0,
  };
  const before = cluster.cpuUs();
  const results = await Promise.all(loads.map((load) => load.run('load', settings)));
  const sum = (value) => results.reduce((total, result) => total + value(result), 0);
  return {
    perSecond: sum(({ requestCount, seconds }) => requestCount / seconds),
    p50Ms: Math.max(...results.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    cpuUs: (cluster.cpuUs() - before) / sum(({ requestCount }) => requestCount),
  };
}

/** One voter and more and more learners. Calls `add` with each point. */
export async function measureReadServers({ sizes, runMs, warmUpMs }, add) {
  await withCluster(1, async (cluster, open) => {
    const loads = [await open(await cluster.leader())];
    for (const servers of sizes) {
      while (cluster.members.size < servers) {
        await cluster.addLearner(`learner-${cluster.members.size}`);
        loads.push(await open([...cluster.members.values()].at(-1)));
      }
      const { objectPath } = cluster;
      await readEverywhere(cluster, loads, objectPath, warmUpMs);
      const quorum = await readEverywhere(cluster, loads, objectPath, runMs);
      const local = await readEverywhere(cluster, loads, `${objectPath}?resourceVersion=0`, runMs);
      const figures = { ...named('quorum', quorum), ...named('local', local) };
      add({ servers, ...figures, memoryMb: memoryMb(cluster) });
    }
  });
}
