/** The metrics of the scheduler, with upstream names and labels. */
import { exponentialBuckets, type Metrics } from '@orch/component';

/** Attempt counts from this number share a label. */
const attemptLabelMax = 15;

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

export class SchedulerMetrics {
  private readonly attempts;
  private readonly endToEnd;
  private readonly algorithm;
  private readonly bindings;
  private readonly podAttempts;
  private readonly podDurations;
  private readonly preemptions;
  private readonly victims;

  constructor(private readonly metrics: Metrics) {
    const buckets = exponentialBuckets(0.001, 2, 15);
    this.attempts = metrics.counter({
      name: 'scheduler_schedule_attempts_total',
      help: 'Number of attempts to schedule pods, by the result',
      labels: ['result', 'profile'],
    });
    this.endToEnd = metrics.histogram({
      name: 'scheduler_e2e_scheduling_duration_seconds',
      help: 'Latency of an attempt from its start until the binding is accepted or the pod is unschedulable',
      labels: ['result', 'profile'],
      buckets,
    });
    this.algorithm = metrics.histogram({
      name: 'scheduler_scheduling_algorithm_duration_seconds',
      help: 'Latency of selecting a node',
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
      help: 'Time from the first addition of a pod to the queue until its binding, by the number of attempts',
      labels: ['attempts'],
      buckets: exponentialBuckets(0.01, 2, 20),
    });
    this.preemptions = metrics.counter({
      name: 'scheduler_preemption_attempts_total',
      help: 'Number of preemptions',
    });
    this.victims = metrics.histogram({
      name: 'scheduler_preemption_victims',
      help: 'Number of pods that a preemption evicts',
      buckets: exponentialBuckets(1, 2, 7),
    });
  }

  /** Records a preemption that evicts this number of pods. */
  preemption(victimCount: number): void {
    this.preemptions.inc();
    this.victims.observe(victimCount);
  }

  attempt(result: AttemptResult, profile: string, durationMs: number): void {
    const labels = { result, profile };
    this.attempts.inc(labels);
    this.endToEnd.observe(labels, durationMs / 1_000);
  }

  /**
   * Records a scheduled pod. `durationMs` is the time since it was first added, over all attempts.
   */
  scheduled(attemptCount: number, durationMs: number): void {
    this.podAttempts.observe(attemptCount);
    const attempts = attemptCount < attemptLabelMax ? String(attemptCount) : `${attemptLabelMax}+`;
    this.podDurations.observe({ attempts }, durationMs / 1_000);
  }

  cycle(durationMs: number): void {
    this.algorithm.observe(durationMs / 1_000);
  }

  binding(durationMs: number): void {
    this.bindings.observe(durationMs / 1_000);
  }

  /** Registers the gauge of waiting pods, which is read on each scrape. */
  observeQueue(sizes: () => Record<'active' | 'backoff' | 'unschedulable', number>): void {
    this.metrics.gauge({
      name: 'scheduler_pending_pods',
      help: 'Waiting pods by queue',
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
