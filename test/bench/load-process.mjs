/**
 * The load generator, which runs in a separate process so that its CPU time is not the server's. It
 * runs one command per message of its parent and returns one result for each.
 */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { serve } from './child.mjs';
import { openHttp2Watchers, openWatchers } from './load-watchers.mjs';
import { RawConnection, requestBytes } from './raw-client.mjs';
import { percentile } from './row.mjs';

const openConcurrency = 50;
/** Objects are updated and read in the order of their number times this prime: not by name. */
const strideOfObjects = 7_919;
/**
 * A run may last this many times longer to reach the minimum number of requests on a busy machine.
 */
const extensionFactor = 4;
let port;
let token;
let prefix;
let sequence = 0;
const payloadBytes = 880;
/** Payloads are parts of this text, so that they do not compress well. */
const noise = randomBytes(1 << 19).toString('hex');

function noiseAt(offset) {
  return noise.slice(offset, offset + payloadBytes);
}

function nameOf(number) {
  return `${prefix}-${String(number).padStart(7, '0')}`;
}

/** `seed` determines the payload. */
function configMap(namespace, name, seed) {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { app: 'bench' } },
    data: { payload: noiseAt((seed * 7_919) % (noise.length - payloadBytes)) },
  });
}

const collection = (namespace) => `/api/v1/namespaces/${namespace}/configmaps`;

function createBytes(namespace) {
  sequence += 1;
  const body = configMap(namespace, nameOf(sequence), sequence);
  return requestBytes('POST', collection(namespace), { token, body });
}

/** The requests for objects that `fill` has created, one after the other. */
function objectSource({ update, read, objectCount }) {
  let turn = 0;
  const nextName = () => {
    turn += 1;
    return nameOf(((turn * strideOfObjects) % objectCount) + 1);
  };
  if (read) {
    return () => requestBytes('GET', `${collection(read)}/${nextName()}`, { token });
  }
  return () => {
    const name = nextName();
    const body = configMap(update, name, turn);
    return requestBytes('PUT', `${collection(update)}/${name}`, { token, body });
  };
}

async function openConnections(count) {
  const connections = [];
  while (connections.length < count) {
    const more = Math.min(openConcurrency, count - connections.length);
    connections.push(
      ...(await Promise.all(Array.from({ length: more }, () => RawConnection.open(port)))),
    );
  }
  return connections;
}

/** The connections of the previous run; closed if the next run needs another number of them. */
let pool = [];

async function pooled(count) {
  pool = pool.filter((connection) => connection.isOpen);
  if (pool.length !== count) {
    for (const connection of pool) connection.close();
    pool = await openConnections(count);
  }
  return pool;
}

function source(what) {
  const { create, request } = what;
  if (create) return () => createBytes(create);
  if (!request) return objectSource(what);
  const bytes = requestBytes(request.method ?? 'GET', request.path, { token, ...request });
  return () => bytes;
}

const commands = {
  connect(settings) {
    ({ port, token, prefix } = settings);
  },

  /**
   * Sends requests sequentially on each connection, for a time and at least `requestsMin`. The next
   * run with the same number of connections uses them again.
   */
  async load({ connectionCount, runMs, requestsMin, ...what }) {
    const next = source(what);
    const connections = await pooled(connectionCount);
    const latencies = [];
    const startedMs = performance.now();
    const isRunning = () => {
      const elapsedMs = performance.now() - startedMs;
      if (elapsedMs < runMs) return true;
      return latencies.length < requestsMin && elapsedMs < runMs * extensionFactor;
    };
    let bytes = 0;
    await Promise.all(
      connections.map(async (connection) => {
        while (isRunning()) {
          const sentMs = performance.now();
          bytes = await connection.send(next());
          latencies.push(performance.now() - sentMs);
        }
      }),
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    latencies.sort((a, b) => a - b);
    return {
      requestCount: latencies.length,
      seconds,
      bytes,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
    };
  },

  /** Creates a fixed number of objects. */
  async fill({ create, objectCount, connectionCount }) {
    const connections = await pooled(connectionCount);
    let left = objectCount;
    await Promise.all(
      connections.map(async (connection) => {
        while (left-- > 0) await connection.send(createBytes(create));
      }),
    );
    return {};
  },

  /** Repeats a request on one connection. */
  async rounds({ request, roundCount }) {
    const [connection] = await pooled(1);
    const bytes = requestBytes('GET', request.path, { token, ...request });
    const timesMs = [];
    let bodyBytes = 0;
    for (let round = 0; round < roundCount; round += 1) {
      const startedMs = performance.now();
      bodyBytes = await connection.send(bytes);
      timesMs.push(performance.now() - startedMs);
    }
    return { timesMs, bodyBytes };
  },

  /** Opens watches, which count their events, in place of open ones. Returns when they are open. */
  async watch({ namespace, watcherCount, sessionCount }) {
    watchers?.close();
    seenCount = 0;
    const target = { port, token, path: `${collection(namespace)}?watch=1` };
    watchers = sessionCount
      ? await openHttp2Watchers(target, watcherCount, sessionCount)
      : await openWatchers(target, watcherCount);
    return {};
  },

  /** Waits for `eventCount` more events on all watches together. The watches stay open. */
  async watched({ eventCount }) {
    seenCount += eventCount;
    await watchers.reached(seenCount);
    return {};
  },

  /**
   * Creates objects one after the other; returns the time from each request to its event at each of
   * the watches.
   */
  async deliveries({ create, eventCount }) {
    const connection = await RawConnection.open(port);
    const latencies = [];
    for (let event = 0; event < eventCount; event += 1) {
      const sentMs = performance.now();
      watchers.onEvent((atMs) => latencies.push(atMs - sentMs));
      await connection.send(createBytes(create));
      seenCount += watchers.watcherCount;
      await watchers.reached(seenCount);
    }
    watchers.onEvent(undefined);
    connection.close();
    latencies.sort((a, b) => a - b);
    return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
  },
};

let watchers;
/** The events that previous commands have waited for. */
let seenCount = 0;

serve(() => ({ commands, end() {} }));
