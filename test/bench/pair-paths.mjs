/** The paths that `bench:pair` compares. Each returns a rate in 1/s and the CPU time of one. */
import { median } from './row.mjs';

const runMs = 250;
const listRequestCount = 4;
const one = '/api/v1/namespaces/read/configmaps/one';
const all = '/api/v1/namespaces/listed/configmaps';

async function rate(side, settings, load = side.load) {
  const before = side.cpuUs();
  const { requestCount, seconds } = await load.run('load', { requestsMin: 0, runMs, ...settings });
  return { perSecond: requestCount / seconds, cpuUs: (side.cpuUs() - before) / requestCount };
}

const create = (connectionCount) => (side) => rate(side, { create: 'created', connectionCount });
const createAtFollower = (connectionCount) => (side) =>
  rate(side, { create: 'created', connectionCount }, side.followerLoad);
const get = (path, connectionCount) => (side) => rate(side, { request: { path }, connectionCount });

const lists = (path) => async (side) => {
  const before = side.cpuUs();
  const { timesMs } = await side.load.run('rounds', {
    request: { path },
    roundCount: listRequestCount,
  });
  const perSecond = 1_000 / median(timesMs);
  return { perSecond, cpuUs: (side.cpuUs() - before) / listRequestCount };
};

/** Includes the creates that cause the events. The watches stay open for all rounds. */
const watchFanOut = (watcherCount, eventCount) => async (side) => {
  const { load, writer } = side;
  if (!side.isWatching) {
    await load.run('watch', { namespace: 'watched', watcherCount });
    side.isWatching = true;
  }
  const before = side.cpuUs();
  const startedMs = performance.now();
  const fill = writer.run('fill', {
    create: 'watched',
    objectCount: eventCount,
    connectionCount: 16,
  });
  await load.run('watched', { eventCount: eventCount * watcherCount });
  const seconds = (performance.now() - startedMs) / 1_000;
  await fill;
  const deliveries = eventCount * watcherCount;
  return { perSecond: deliveries / seconds, cpuUs: (side.cpuUs() - before) / deliveries };
};

/** Returns the paths by name; those of one server, or those of a leader and a follower. */
export function pairPaths({ replicaCount, listedCount, watcherCount, eventCount }) {
  if (replicaCount > 1) {
    return {
      'create at the leader, 32 connections': create(32),
      'create at a follower, 32 connections': createAtFollower(32),
      'create at the leader, 128 connections': create(128),
      'create at a follower, 128 connections': createAtFollower(128),
      'create at the leader, 1 connection': create(1),
      'create at a follower, 1 connection': createAtFollower(1),
    };
  }
  return {
    'create, 1 connection': create(1),
    'create, 32 connections': create(32),
    'create, 128 connections': create(128),
    'get, quorum, 1 connection': get(one, 1),
    'get, quorum, 32 connections': get(one, 32),
    'get, version 0, 32 connections': get(`${one}?resourceVersion=0`, 32),
    [`list of ${listedCount}`]: lists(all),
    [`list of ${listedCount}, version 0`]: lists(`${all}?resourceVersion=0`),
    'page of 500': lists(`${all}?limit=500`),
    [`watch, ${watcherCount} watchers`]: watchFanOut(watcherCount, eventCount),
  };
}
