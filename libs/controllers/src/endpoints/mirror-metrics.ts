/** Metrics that only the controller of mirrored endpoint slices has, with the upstream names. */
import { exponentialBuckets, type Histogram, type Metrics } from '@orch/component';
import { countBuckets } from './slice-metrics.js';

export const mirrorSubsystem = 'endpoint_slice_mirroring_controller';

export class MirrorMetrics {
  private readonly updated: Histogram;
  private readonly skipped: Histogram;
  private readonly duration: Histogram;

  constructor(metrics: Metrics) {
    this.updated = metrics.histogram({
      name: `${mirrorSubsystem}_endpoints_updated_per_sync`,
      help: 'Number of endpoints that one sync updates.',
      buckets: countBuckets,
    });
    this.skipped = metrics.histogram({
      name: `${mirrorSubsystem}_addresses_skipped_per_sync`,
      help: 'Number of addresses that one sync does not mirror: invalid ones, and those above the limit of a subset.',
      buckets: countBuckets,
    });
    this.duration = metrics.histogram({
      name: `${mirrorSubsystem}_endpoints_sync_duration`,
      help: 'Seconds that one sync takes.',
      buckets: exponentialBuckets(0.001, 2, 15),
    });
  }

  planned(updatedCount: number, skippedCount: number): void {
    this.updated.observe(updatedCount);
    this.skipped.observe(skippedCount);
  }

  synced(durationMs: number): void {
    this.duration.observe(durationMs / 1_000);
  }
}
