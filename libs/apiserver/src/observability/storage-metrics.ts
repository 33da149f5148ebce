/**
 * Metrics of the store: its contents, refreshed before metrics are rendered, and the durations of
 * commits, quorum rounds and disk writes, recorded as they end.
 */
import type { Metrics } from '@orch/component';
import type { ResourceTable } from '@orch/registry';
import type { StoreAdministration, StoreObserver, StoreReader } from '@orch/store';

/** Seconds: from a commit in memory to a disk that stalls. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];
const countBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const countTimeoutMs = 5_000;

export class StorageMetrics {
  /** The observer of the store. It exists before the store is opened. */
  readonly observer: StoreObserver;
  private readonly objects;
  private readonly objectCounts;
  private readonly sizes;

  constructor(metrics: Metrics) {
    this.objects = metrics.gauge({
      name: 'apiserver_storage_objects',
      help: 'Objects stored, by resource.',
      stability: 'STABLE',
      labels: ['resource'],
    });
    this.objectCounts = metrics.gauge({
      name: 'etcd_object_counts',
      help: 'Objects stored, by resource; the same as apiserver_storage_objects.',
      labels: ['resource'],
      deprecatedSince: '1.22.0',
    });
    this.sizes = metrics.gauge({
      name: 'apiserver_storage_size_bytes',
      help: 'Payload bytes of all stored objects.',
    });
    const operations = metrics.histogram({
      name: 'apiserver_storage_operation_duration_seconds',
      help: 'Time of commits, quorum rounds, applied slices and state writes, in seconds.',
      labels: ['operation'],
      buckets: durationBuckets,
    });
    const batches = metrics.histogram({
      name: 'apiserver_storage_batch_size',
      help: 'Readers served by one quorum round.',
      labels: ['operation'],
      buckets: countBuckets,
    });
    const failures = metrics.counter({
      name: 'apiserver_storage_commit_failures_total',
      help: 'Commits without a result, by cause.',
      labels: ['code'],
    });
    const timer = (operation: string) => {
      const series = operations.labels({ operation });
      return (durationMs: number) => series.observe(durationMs / 1_000);
    };
    const commit = timer('commit');
    const apply = timer('apply');
    const barrier = timer('read_barrier');
    const state = timer('state_write');
    const checkpoint = timer('checkpoint');
    const readers = batches.labels({ operation: 'read_barrier' });
    this.observer = {
      committed: commit,
      commitFailed: (code) => failures.inc({ code }),
      applied: (_entryCount, durationMs) => apply(durationMs),
      replaced: () => undefined,
      barrier(durationMs, readerCount) {
        barrier(durationMs);
        readers.observe(readerCount);
      },
      stateWritten: (_recordCount, _byteCount, durationMs) => state(durationMs),
      checkpointed: checkpoint,
    };
  }

  /** Counts the stored objects, before metrics are rendered. */
  async refresh(store: StoreReader & StoreAdministration, table: ResourceTable): Promise<void> {
    this.sizes.set(store.status().valueBytes);
    for (const { keyPrefix, definition, storedApiVersion } of table.resources) {
      if (definition.virtual) continue;
      const { entries, remainingCount } = await store.list(keyPrefix, {
        consistency: { kind: 'any' },
        timeoutMs: countTimeoutMs,
        limit: 1,
      });
      const slash = storedApiVersion.indexOf('/');
      const group = slash < 0 ? '' : `.${storedApiVersion.slice(0, slash)}`;
      const labels = { resource: definition.plural + group };
      this.objects.set(labels, entries.length + remainingCount);
      this.objectCounts.set(labels, entries.length + remainingCount);
    }
  }
}
