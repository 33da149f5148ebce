/**
 * Measures the duration of store requests by operation and kind. Reads served from memory and the
 * server's own keys are not measured.
 */
import type { Awaitable, Clock, HistogramSeries, Metrics } from '@orch/component';
import type { ResourceTable } from '@orch/registry';
import type {
  CommitResult,
  GetResult,
  ListOptions,
  ListResult,
  Operation,
  ReadOptions,
  ReadWriteStore,
  Revision,
  WatchHandle,
  WatchOptions,
} from '@orch/store';

type StoreOperation = 'get' | 'list' | 'create' | 'update' | 'delete';

const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 15, 30, 60];

type SeriesByOperation = Partial<Record<StoreOperation, HistogramSeries>>;

export class MeasuredStore implements ReadWriteStore {
  private readonly durations;
  /** By type of object, `*core.Pod`. */
  private readonly byType = new Map<string, SeriesByOperation>();

  constructor(
    private readonly store: ReadWriteStore,
    private readonly table: ResourceTable,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.durations = metrics.histogram({
      name: 'etcd_request_duration_seconds',
      help: 'Time of requests to the store, in seconds, by operation and type of object.',
      labels: ['operation', 'type'],
      buckets,
    });
  }

  get(key: string, options: ReadOptions): Awaitable<GetResult> {
    if (options.consistency.kind === 'any') return this.store.get(key, options);
    const startMs = this.clock.monotonicMs();
    const result = this.store.get(key, options);
    if (result instanceof Promise) return result.finally(() => this.took('get', key, startMs));
    this.took('get', key, startMs);
    return result;
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    if (options.consistency.kind === 'any') return this.store.list(prefix, options);
    const startMs = this.clock.monotonicMs();
    try {
      return await this.store.list(prefix, options);
    } finally {
      this.took('list', prefix, startMs);
    }
  }

  async commit(changes: readonly Operation[], timeoutMs: number): Promise<CommitResult> {
    const startMs = this.clock.monotonicMs();
    try {
      return await this.store.commit(changes, timeoutMs);
    } finally {
      for (const change of changes) {
        if (change.kind === 'check') continue;
        if (this.took(operationOf(change), change.key, startMs)) break;
      }
    }
  }

  /** Records the duration. @returns whether the key is that of an object. */
  private took(operation: StoreOperation, key: string, startMs: number): boolean {
    const end = key.indexOf('/', key.indexOf('/') + 1) + 1;
    const type = this.table.storedUnder(key.slice(0, end))?.typeName;
    if (type === undefined) return false;
    let series = this.byType.get(type);
    if (!series) {
      series = {};
      this.byType.set(type, series);
    }
    series[operation] ??= this.durations.labels({ operation, type });
    series[operation].observe((this.clock.monotonicMs() - startMs) / 1_000);
    return true;
  }

  watch(options: WatchOptions): WatchHandle {
    return this.store.watch(options);
  }

  revision(): Revision {
    return this.store.revision();
  }

  compactedRevision(): Revision {
    return this.store.compactedRevision();
  }
}

function operationOf(change: Operation): StoreOperation {
  if (change.kind === 'put') return change.expect?.kind === 'absent' ? 'create' : 'update';
  return 'delete';
}
