/**
 * Clients that overload a server, in a process of their own: requests without a pause, idle
 * connections, responses that the client does not read and bodies that never end. One command per
 * message.
 */
import { performance } from 'node:perf_hooks';
import { connect } from 'node:tls';
import { serve } from '../../bench/child.mjs';
import { RawConnection, requestBytes } from '../../bench/raw-client.mjs';
import { percentile } from '../../bench/row.mjs';

const openConcurrency = 50;
/** Pause before a connection that the server has closed is opened again. */
const reopenPauseMs = 20;
let port;
let token;
let nameCount = 0;
/** The connections of the last command that opened some. */
let open = [];

async function inParallel(count, work) {
  let started = 0;
  const worker = async () => {
    while (started < count) {
      started += 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, openConcurrency) }, worker));
}

/** The server limits connections of an address on which no request has been authenticated. */
async function openAuthenticated() {
  const connection = await RawConnection.open(port);
  await connection.send(requestBytes('GET', '/api/v1/namespaces/default', { token }));
  return connection;
}

/** Resolves with a socket on which `bytes` were sent and nothing is read. */
function openDeaf(bytes) {
  return new Promise((done, fail) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      socket.removeListener('error', fail);
      socket.on('error', () => socket.destroy());
      socket.write(bytes, () => done(socket));
    });
  });
}

function createBytes(namespace) {
  nameCount += 1;
  const metadata = { name: `object-${process.pid}-${nameCount}`, namespace };
  const body = JSON.stringify({ metadata, data: { payload: 'x'.repeat(900) } });
  return requestBytes('POST', `/api/v1/namespaces/${namespace}/configmaps`, { token, body });
}

class Outcomes {
  statuses = {};
  latencies = [];
  lostCount = 0;

  add(status, latencyMs) {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status < 300) this.latencies.push(latencyMs);
  }

  result(seconds) {
    const { statuses, lostCount } = this;
    const sorted = this.latencies.sort((a, b) => a - b);
    return {
      ...{ statuses, lostCount, seconds, acceptedCount: sorted.length },
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
    };
  }
}

const commands = {
  connect(settings) {
    ({ port, token } = settings);
  },

  /** Creates objects on many connections, each without a pause, whatever the responses say. */
  async flood({ connectionCount, runMs, namespace }) {
    const connections = [];
    await inParallel(connectionCount, async () => connections.push(await openAuthenticated()));
    const outcomes = new Outcomes();
    const startedMs = performance.now();
    const isRunning = () => performance.now() - startedMs < runMs;
    await Promise.all(
      connections.map(async (first) => {
        let connection = first;
        while (isRunning()) {
          const sentMs = performance.now();
          try {
            if (!connection.isOpen) connection = await RawConnection.open(port);
            const { status } = await connection.exchange(createBytes(namespace));
            outcomes.add(status, performance.now() - sentMs);
          } catch {
            // Counted: the server closed the connection or refused it.
            outcomes.lostCount += 1;
            await new Promise((done) => setTimeout(done, reopenPauseMs));
          }
        }
        connection.close();
      }),
    );
    return outcomes.result((performance.now() - startedMs) / 1_000);
  },

  /** Creates one object; returns the status. */
  async once({ namespace }) {
    const connection = await RawConnection.open(port);
    const { status } = await connection.exchange(createBytes(namespace));
    connection.close();
    return { status };
  },

  /** Opens connections that then idle. */
  async openIdle({ connectionCount }) {
    await inParallel(connectionCount, async () => open.push((await openAuthenticated()).socket));
  },

  /** Requests responses and reads nothing of them. */
  async openDeaf({ connectionCount, path }) {
    const bytes = requestBytes('GET', path, { token });
    await inParallel(connectionCount, async () => open.push(await openDeaf(bytes)));
  },

  /** Sends all but the last byte of a body, and nothing more. */
  async openUnfinished({ connectionCount, namespace, bodyBytes }) {
    const head = requestBytes('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
      token,
      body: ' '.repeat(bodyBytes),
    });
    const bytes = head.subarray(0, head.length - 1);
    await inParallel(connectionCount, async () => {
      const socket = await openDeaf(bytes);
      // The response, so that the end of the connection is noticed.
      socket.resume();
      open.push(socket);
    });
  },

  openCount() {
    return { count: open.filter((socket) => !socket.destroyed).length };
  },

  closeAll() {
    for (const socket of open) socket.destroy();
    open = [];
  },
};

serve(() => ({ commands, end() {} }));
