/** Metrics of the controllers that write endpoint slices, with the upstream names. */
import {
  type Counter,
  exponentialBuckets,
  type Gauge,
  type Histogram,
  type Metrics,
} from '@orch/component';
import type { EndpointSlice } from '@orch/types/discovery/v1';
import { countEndpointChanges, countSlices, type SliceCounts } from './slice-counts.js';
import type { SliceChanges } from './slices.js';

export type SliceOperation = 'create' | 'update' | 'delete';

const none: SliceCounts = { endpointCount: 0, sliceCount: 0, neededSliceCount: 0 };
export const countBuckets = exponentialBuckets(2, 2, 15);

export class SliceMetrics {
  private readonly added: Histogram;
  private readonly removed: Histogram;
  private readonly endpoints: Gauge<never>;
  private readonly slices: Gauge<never>;
  private readonly neededSlices: Gauge<never>;
  private readonly changes: Counter<'operation'>;
  private readonly byOwner = new Map<string, SliceCounts>();
  private total = none;

  /** `subsystem`: how the names begin. */
  constructor(
    metrics: Metrics,
    subsystem: string,
    private readonly endpointCountMax: number,
  ) {
    this.added = metrics.histogram({
      name: `${subsystem}_endpoints_added_per_sync`,
      help: 'Number of endpoints that one sync adds.',
      buckets: countBuckets,
    });
    this.removed = metrics.histogram({
      name: `${subsystem}_endpoints_removed_per_sync`,
      help: 'Number of endpoints that one sync removes.',
      buckets: countBuckets,
    });
    this.endpoints = metrics.gauge({
      name: `${subsystem}_endpoints_desired`,
      help: 'Number of endpoints that the slices should have.',
    });
    this.slices = metrics.gauge({
      name: `${subsystem}_num_endpoint_slices`,
      help: 'Number of endpoint slices.',
    });
    this.neededSlices = metrics.gauge({
      name: `${subsystem}_desired_endpoint_slices`,
      help: 'Number of endpoint slices that would suffice for the endpoints.',
    });
    this.changes = metrics.counter({
      name: `${subsystem}_changes`,
      help: 'Number of endpoint slices that were written, by operation.',
      labels: ['operation'],
    });
  }

  /** Records the plan of one sync of the owner `key`. Returns the number of updated endpoints. */
  planned(key: string, existing: readonly EndpointSlice[], changes: SliceChanges): number {
    const { addedCount, updatedCount, removedCount } = countEndpointChanges(existing, changes);
    this.added.observe(addedCount);
    this.removed.observe(removedCount);
    this.replace(key, countSlices(existing, changes, this.endpointCountMax));
    return updatedCount;
  }

  /** The owner has no slices any more. */
  forget(key: string): void {
    this.replace(key, undefined);
  }

  written(operation: SliceOperation): void {
    this.changes.inc({ operation });
  }

  private replace(key: string, counts: SliceCounts | undefined): void {
    const { endpointCount, sliceCount, neededSliceCount } = this.byOwner.get(key) ?? none;
    const now = counts ?? none;
    this.total = {
      endpointCount: this.total.endpointCount + now.endpointCount - endpointCount,
      sliceCount: this.total.sliceCount + now.sliceCount - sliceCount,
      neededSliceCount: this.total.neededSliceCount + now.neededSliceCount - neededSliceCount,
    };
    if (counts) this.byOwner.set(key, counts);
    else this.byOwner.delete(key);
    this.endpoints.set(this.total.endpointCount);
    this.slices.set(this.total.sliceCount);
    this.neededSlices.set(this.total.neededSliceCount);
  }
}
