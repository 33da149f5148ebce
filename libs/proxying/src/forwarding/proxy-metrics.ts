/** The proxy's metrics. */
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
      help: 'Connections and UDP flows open now',
      labels: ['protocol'],
    });
    this.connectFailures = metrics.counter({
      name: 'serviceproxy_connect_failures_total',
      help: 'Endpoints that could not be reached; another one is tried',
      labels: ['protocol'],
    });
    this.refused = metrics.counter({
      name: 'serviceproxy_refused_total',
      help: 'Connections and datagrams refused',
      labels: ['protocol', 'reason'],
    });
    this.syncFailures = metrics.counter({
      name: 'serviceproxy_sync_failures_total',
      help: 'Services that could not be served as asked for at once',
    });
  }
}
