/** Metrics of work queues, one label each queue, under the names that dashboards know. */
import { exponentialBuckets, type Metrics } from '@orch/component';

const queueSeconds = exponentialBuckets(10e-9, 10, 10);

export interface QueueObserver {
  added(): void;
  retried(): void;
  depth(keyCount: number): void;
  waited(seconds: number): void;
  worked(seconds: number): void;
}

export function queueObserver(metrics: Metrics, queueName: string): QueueObserver {
  const labels = ['name'] as const;
  const label = { name: queueName };
  const adds = metrics.counter({
    name: 'workqueue_adds_total',
    help: 'Total number of adds handled by workqueue',
    labels,
  });
  const retries = metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Total number of retries handled by workqueue',
    labels,
  });
  const depth = metrics.gauge({
    name: 'workqueue_depth',
    help: 'Current depth of workqueue',
    labels,
  });
  const waiting = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long in seconds an item stays in workqueue before being requested.',
    labels,
    buckets: queueSeconds,
  });
  const working = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long in seconds processing an item from workqueue takes.',
    labels,
    buckets: queueSeconds,
  });
  return {
    added: () => adds.inc(label),
    retried: () => retries.inc(label),
    depth: (keyCount) => depth.set(label, keyCount),
    waited: (seconds) => waiting.observe(label, seconds),
    worked: (seconds) => working.observe(label, seconds),
  };
}
