/** Metrics of pod logs: whether the certificate of the node agent was verified. */
import { type CounterSeries, dialect, type Metrics } from '@orch/component';

export class PodLogMetrics {
  private readonly failures: CounterSeries;
  private readonly enforced: CounterSeries;
  private readonly skipped: CounterSeries;

  constructor(metrics: Metrics) {
    const server = dialect().systemName('apiserver').replaceAll('-', '_');
    const name = (part: string) => `${server}_pod_logs_pods_logs_${part}`;
    this.failures = metrics
      .counter({
        name: name('backend_tls_failure_total'),
        help: 'Logs not read because the certificate of the node agent was not trusted.',
      })
      .labels({});
    const requests = metrics.counter({
      name: name('insecure_backend_total'),
      help: 'Log requests, by whether the certificate of the node agent was verified.',
      labels: ['usage'],
    });
    this.enforced = requests.labels({ usage: 'enforce_tls' });
    this.skipped = requests.labels({ usage: 'skip_tls_allowed' });
  }

  requested(isChecked: boolean): void {
    (isChecked ? this.enforced : this.skipped).inc();
  }

  untrusted(): void {
    this.failures.inc();
  }
}
