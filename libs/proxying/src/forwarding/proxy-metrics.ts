/** The metrics of the proxy. */
import type { Metrics } from '@orch/component';

export class ProxyMetrics {
  readonly connections;
  readonly open;
  readonly connectFailures;
  readonly refused;
  readonly syncFailures;

  constructor(metrics: Metrics) {
    this.connections = metrics.counter({
      name: 'serviceproxy_connections_total',
      help: 'Connections and UDP flows forwarded',
      labels: ['protocol'],
    });
    this.open = metrics.gauge({
      name: 'serviceproxy_connections_open',
      help: 'Open connections and UDP flows',
      labels: ['protocol'],
    });
    this.connectFailures = metrics.counter({
      name: 'serviceproxy_connect_failures_total',
      help: 'Failed connections to endpoints; another endpoint is tried',
      labels: ['protocol'],
    });
    this.refused = metrics.counter({
      name: 'serviceproxy_refused_total',
      help: 'Rejected connections and datagrams',
      labels: ['protocol', 'reason'],
    });
    this.syncFailures = metrics.counter({
      name: 'serviceproxy_sync_failures_total',
      help: 'Failed syncs of services, which are retried',
    });
  }
}
