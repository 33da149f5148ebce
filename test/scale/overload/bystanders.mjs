/**
 * Requests that must work while others overload the server: health checks of a supervisor, the
 * lease of a node, and reads of an administrator. Each kind is sent again as soon as it is done,
 * after a pause.
 */
import { performance } from 'node:perf_hooks';
import { RawConnection, requestBytes } from '../../bench/raw-client.mjs';
import { percentile } from '../../bench/row.mjs';

const pauseMs = 20;
export const node = { name: 'bystander', token: 'bystander-node' };

class Outcomes {
  statuses = {};
  latencies = [];
}

export class Bystanders {
  isStopped = false;
  kinds = new Map();

  /** Begins to send. The lease of the node must exist. */
  constructor({ port, token }, leasePath) {
    const body = JSON.stringify({ spec: { leaseDurationSeconds: 40 } });
    const contentType = 'application/merge-patch+json';
    const requests = {
      livez: requestBytes('GET', '/livez', { token }),
      'node lease': requestBytes('PATCH', leasePath, { token: node.token, contentType, body }),
      administrator: requestBytes('GET', '/api/v1/namespaces/default', { token }),
    };
    this.done = Promise.all(
      Object.entries(requests).map(([kind, bytes]) => this.send(kind, bytes, port)),
    );
  }

  async send(kind, bytes, port) {
    const outcomes = new Outcomes();
    this.kinds.set(kind, outcomes);
    const connection = await RawConnection.open(port);
    while (!this.isStopped) {
      const sentMs = performance.now();
      const { status } = await connection.exchange(bytes);
      outcomes.statuses[status] = (outcomes.statuses[status] ?? 0) + 1;
      outcomes.latencies.push(performance.now() - sentMs);
      await new Promise((done) => setTimeout(done, pauseMs));
    }
    connection.close();
  }

  /** Resolves with the statuses and the latency of each kind. */
  async stop() {
    this.isStopped = true;
    await this.done;
    return [...this.kinds].map(([kind, { statuses, latencies }]) => {
      const sorted = latencies.sort((a, b) => a - b);
      return { kind, statuses, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
    });
  }
}
