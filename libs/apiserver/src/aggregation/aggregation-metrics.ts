/** Metrics of the availability of API services. */
import { conditionOf } from '@orch/apimachinery';
import type { Metrics } from '@orch/component';
import type { APIService } from '@orch/types/apiregistration/v1';

export class AggregationMetrics {
  private readonly becameUnavailable;

  /** `registrations`: every API service of this replica's store. */
  constructor(metrics: Metrics, registrations: () => readonly APIService[]) {
    metrics.gauge({
      name: 'aggregator_unavailable_apiservice',
      help: 'Whether an API service is unavailable: 1, or 0 if it is available.',
      labels: ['name'],
      collect(gauge) {
        gauge.reset();
        for (const object of registrations()) {
          gauge.set({ name: object.metadata?.name ?? '' }, isUnavailable(object) ? 1 : 0);
        }
      },
    });
    this.becameUnavailable = metrics.counter({
      name: 'aggregator_unavailable_apiservice_total',
      help: 'Times that an API service became unavailable, by its name and the reason.',
      labels: ['name', 'reason'],
    });
  }

  /** Counts a change of an API service from available to unavailable. */
  changed(before: APIService | undefined, after: APIService): void {
    const isNew = !before || !isUnavailable(before);
    if (!isNew || !isUnavailable(after)) return;
    const reason = conditionOf(after.status?.conditions, 'Available')?.reason ?? '';
    this.becameUnavailable.inc({ name: after.metadata?.name ?? '', reason });
  }
}

/** An API service without a condition has not been checked yet. */
function isUnavailable({ status }: APIService): boolean {
  const condition = conditionOf(status?.conditions, 'Available');
  return condition !== undefined && condition.status !== 'True';
}
