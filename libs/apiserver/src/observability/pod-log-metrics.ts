/** Metrics of pod logs: how sure the server was of the agents that it read them from. */
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
        help: 'Logs that were not read because the certificate of the node agent was not believed.',
      })
      .labels({});
    const requests = metrics.counter({
      name: name('insecure_backend_total'),
      help: 'Logs asked for, by whether the certificate of the node agent was checked.',
      labels: ['usage'],
    });
    this.enforced = requests.labels({ usage: 'enforce_tls' });
    this.skipped = requests.labels({ usage: 'skip_tls_allowed' });
  }

  requested(isChecked: boolean): void {
    (isChecked ? this.enforced : this.skipped).inc();
  }

  notBelieved(): void {
    this.failures.inc();
  }
}
