/** Metrics of work queues, labelled with the queue, under the upstream names. */
import { exponentialBuckets, type Gauge, type Metrics } from '@orch/component';

const queueSeconds = exponentialBuckets(10e-9, 10, 10);
const labels = ['name'] as const;

export interface QueueObserver {
  added(): void;
  retried(): void;
  waited(seconds: number): void;
  worked(seconds: number): void;
}

/** The state of a queue, read when metrics are scraped. */
export interface QueueState {
  readonly depth: number;
  /** Seconds since the start of the work on each key in work. */
  workSeconds(): readonly number[];
}

const queuesByMetrics = new WeakMap<Metrics, Map<string, QueueState>>();

/** If two queues have one name, the state of the later one is reported. */
export function queueObserver(
  metrics: Metrics,
  queueName: string,
  state: QueueState,
): QueueObserver {
  statesOf(metrics).set(queueName, state);
  const label = { name: queueName };
  const adds = metrics
    .counter({
      name: 'workqueue_adds_total',
      help: 'Total number of adds handled by workqueue',
      labels,
    })
    .labels(label);
  const retries = metrics
    .counter({
      name: 'workqueue_retries_total',
      help: 'Total number of retries handled by workqueue',
      labels,
    })
    .labels(label);
  const waiting = metrics
    .histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'How long in seconds an item stays in workqueue before being requested.',
      labels,
      buckets: queueSeconds,
    })
    .labels(label);
  const working = metrics
    .histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'How long in seconds processing an item from workqueue takes.',
      labels,
      buckets: queueSeconds,
    })
    .labels(label);
  return {
    added: () => adds.inc(),
    retried: () => retries.inc(),
    waited: (seconds) => waiting.observe(seconds),
    worked: (seconds) => working.observe(seconds),
  };
}

function statesOf(metrics: Metrics): Map<string, QueueState> {
  const known = queuesByMetrics.get(metrics);
  if (known) return known;
  const states = new Map<string, QueueState>();
  queuesByMetrics.set(metrics, states);
  const each = (value: (state: QueueState) => number) => (gauge: Gauge<'name'>) => {
    for (const [name, state] of states) gauge.set({ name }, value(state));
  };
  metrics.gauge({
    name: 'workqueue_depth',
    help: 'Current depth of workqueue',
    labels,
    collect: each(({ depth }) => depth),
  });
  metrics.gauge({
    name: 'workqueue_unfinished_work_seconds',
    help: 'Total seconds of work in progress on all items. It keeps growing while an item is stuck.',
    labels,
    collect: each((state) => state.workSeconds().reduce((sum, seconds) => sum + seconds, 0)),
  });
  metrics.gauge({
    name: 'workqueue_longest_running_processor_seconds',
    help: 'Seconds of work in progress on the item that has taken longest.',
    labels,
    collect: each((state) => Math.max(0, ...state.workSeconds())),
  });
  return states;
}
