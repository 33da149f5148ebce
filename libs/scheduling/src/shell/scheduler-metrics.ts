/** What the scheduler counts and measures; names and labels are those that dashboards know. */
import { exponentialBuckets, type Metrics } from '@orch/component';

/** From here on attempts share a label. */
const attemptsToldMax = 15;

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

export class SchedulerMetrics {
  private readonly attempts;
  private readonly endToEnd;
  private readonly algorithm;
  private readonly bindings;
  private readonly podAttempts;
  private readonly podDurations;

  constructor(
    private readonly metrics: Metrics,
    private readonly profile: string,
  ) {
    const buckets = exponentialBuckets(0.001, 2, 15);
    this.attempts = metrics.counter({
      name: 'scheduler_schedule_attempts_total',
      help: 'Number of attempts to schedule pods, by the result',
      labels: ['result', 'profile'],
    });
    this.endToEnd = metrics.histogram({
      name: 'scheduler_e2e_scheduling_duration_seconds',
      help: 'Latency of an attempt from its start until the binding was taken or the pod refused',
      labels: ['result', 'profile'],
      buckets,
    });
    this.algorithm = metrics.histogram({
      name: 'scheduler_scheduling_algorithm_duration_seconds',
      help: 'Latency of choosing a node',
      buckets,
    });
    this.bindings = metrics.histogram({
      name: 'scheduler_binding_duration_seconds',
      help: 'Latency of bindings',
      deprecatedSince: '1.20.0',
      buckets,
    });
    this.podAttempts = metrics.histogram({
      name: 'scheduler_pod_scheduling_attempts',
      help: 'Number of attempts that a pod needed',
      buckets: exponentialBuckets(1, 2, 5),
    });
    this.podDurations = metrics.histogram({
      name: 'scheduler_pod_scheduling_duration_seconds',
      help: 'Time from the first sight of a pod to its binding, by the attempts it needed',
      labels: ['attempts'],
      buckets: exponentialBuckets(0.01, 2, 20),
    });
  }

  attempt(result: AttemptResult, durationMs: number): void {
    const labels = { result, profile: this.profile };
    this.attempts.inc(labels);
    this.endToEnd.observe(labels, durationMs / 1_000);
  }

  /** `durationMs`: since the pod was seen first, over all its attempts. */
  scheduled(attemptCount: number, durationMs: number): void {
    this.podAttempts.observe(attemptCount);
    const attempts = attemptCount < attemptsToldMax ? String(attemptCount) : `${attemptsToldMax}+`;
    this.podDurations.observe({ attempts }, durationMs / 1_000);
  }

  cycle(durationMs: number): void {
    this.algorithm.observe(durationMs / 1_000);
  }

  binding(durationMs: number): void {
    this.bindings.observe(durationMs / 1_000);
  }

  /** Waiting pods are read when the metrics are asked for. */
  observeQueue(sizes: () => Record<'active' | 'backoff' | 'unschedulable', number>): void {
    this.metrics.gauge({
      name: 'scheduler_pending_pods',
      help: 'Pods that wait, by the queue they wait in',
      labels: ['queue'],
      collect: (gauge) => {
        for (const [queue, count] of Object.entries(sizes())) gauge.set({ queue }, count);
      },
    });
  }

  observeCache(sizes: () => Record<'nodes' | 'pods' | 'assumed_pods', number>): void {
    this.metrics.gauge({
      name: 'scheduler_scheduler_cache_size',
      help: 'Nodes, pods and assumed pods in the cache',
      labels: ['type'],
      collect: (gauge) => {
        for (const [type, count] of Object.entries(sizes())) gauge.set({ type }, count);
      },
    });
  }
}
