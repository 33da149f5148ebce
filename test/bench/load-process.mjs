/**
 * The load generator, which runs in a separate process so that its CPU time is not the server's. It
 * runs one command per message of its parent and returns one result for each.
 */
import { randomBytes } from 'node:crypto';
import { connect as connectHttp2 } from 'node:http2';
import { performance } from 'node:perf_hooks';
import { connect } from 'node:tls';
import { serve } from './child.mjs';
import { RawConnection, requestBytes } from './raw-client.mjs';
import { percentile } from './row.mjs';

const openConcurrency = 50;
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

function configMap(namespace) {
  sequence += 1;
  const name = `${prefix}-${String(sequence).padStart(7, '0')}`;
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { app: 'bench' } },
    data: { payload: noiseAt((sequence * 7_919) % (noise.length - payloadBytes)) },
  });
}

function createBytes(namespace) {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  return requestBytes('POST', path, { token, body: configMap(namespace) });
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

function source({ create, request }) {
  if (create) return () => createBytes(create);
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
    const path = `/api/v1/namespaces/${namespace}/configmaps?watch=1`;
    watchers = sessionCount
      ? await openHttp2Watchers(path, watcherCount, sessionCount)
      : await openWatchers(path, watcherCount);
    return {};
  },

  /** Waits for `eventCount` more events on all watches together. The watches stay open. */
  async watched({ eventCount }) {
    seenCount += eventCount;
    await watchers.reached(seenCount);
    return {};
  },
};

let watchers;
/** The events that previous commands have waited for. */
let seenCount = 0;

/** Counts line ends: every event is one line, and the payload contains no line end. */
class EventCount {
  count = 0;
  goal = Number.POSITIVE_INFINITY;

  add(chunk, from = 0) {
    for (let at = chunk.indexOf(0x0a, from); at >= 0; at = chunk.indexOf(0x0a, at + 1)) {
      // Event lines end with a brace, lines of chunk frames with a carriage return.
      if (at > 0 ? chunk[at - 1] === 0x7d : this.lastByte === 0x7d) this.count += 1;
    }
    this.lastByte = chunk[chunk.length - 1];
  }
}

async function reached(counters, goal) {
  for (;;) {
    let total = 0;
    for (const counter of counters) total += counter.count;
    if (total >= goal) return;
    await new Promise((done) => setTimeout(done, 2));
  }
}

async function openWatchers(path, watcherCount) {
  const counters = [];
  const sockets = [];
  const open = () =>
    new Promise((done, fail) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
      const counter = new EventCount();
      sockets.push(socket);
      counters.push(counter);
      socket.once('error', fail);
      socket.once('secureConnect', () => socket.write(requestBytes('GET', path, { token })));
      let begun = false;
      socket.on('data', (chunk) => {
        counter.add(chunk);
        if (!begun) done();
        begun = true;
      });
    });
  while (sockets.length < watcherCount) {
    const more = Math.min(openConcurrency, watcherCount - sockets.length);
    await Promise.all(Array.from({ length: more }, open));
  }
  return {
    reached: (goal) => reached(counters, goal),
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function openHttp2Watchers(path, watcherCount, sessionCount) {
  const counters = [];
  const sessions = Array.from({ length: sessionCount }, () =>
    connectHttp2(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: 1 << 20 },
    }),
  );
  for (const session of sessions) {
    session.setMaxListeners(0);
    await new Promise((done, fail) => session.once('connect', done).once('error', fail));
    session.setLocalWindowSize(1 << 26);
  }
  const open = (index) =>
    new Promise((done, fail) => {
      const stream = sessions[index % sessionCount].request({
        ':path': path,
        authorization: `Bearer ${token}`,
      });
      const counter = new EventCount();
      counters.push(counter);
      stream.once('error', fail);
      stream.once('response', done);
      stream.on('data', (chunk) => counter.add(chunk));
    });
  for (let opened = 0; opened < watcherCount; opened += openConcurrency) {
    const more = Math.min(openConcurrency, watcherCount - opened);
    await Promise.all(Array.from({ length: more }, (_, index) => open(opened + index)));
  }
  return {
    reached: (goal) => reached(counters, goal),
    close() {
      for (const session of sessions) session.destroy();
    },
  };
}

serve(() => ({ commands, end() {} }));
