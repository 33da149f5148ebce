/** Metrics of encryption at rest, with the names of the interface. */
import { status } from '@grpc/grpc-js';
import { type Clock, exponentialBuckets, type Metrics } from '@orch/component';
import type { EncryptionObserver, TransformationType } from './encryption-observer.js';
import { KmsError } from './kms-error.js';

const localBuckets = exponentialBuckets(5e-6, 2, 14);
const arrivalBuckets = exponentialBuckets(60, 2, 10);

export class EncryptionMetrics implements EncryptionObserver {
  private readonly durations;
  private readonly operations;
  private readonly generations;
  private readonly generationFailures;
  private readonly misses;
  private readonly fill;
  private readonly arrivals;
  /** On the monotonic clock: when a data key was used last. */
  private readonly usedMs = new Map<TransformationType, number>();

  constructor(
    metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.durations = metrics.histogram<'transformation_type'>({
      name: 'apiserver_storage_transformation_duration_seconds',
      help: 'Time to encrypt or decrypt an object, in seconds, calls of a key service included.',
      labels: ['transformation_type'],
      buckets: localBuckets,
    });
    this.operations = metrics.counter<'status' | 'transformation_type' | 'transformer_prefix'>({
      name: 'apiserver_storage_transformation_operations_total',
      help: 'Encryptions and decryptions of objects, by provider and result.',
      labels: ['transformation_type', 'transformer_prefix', 'status'],
    });
    this.generations = metrics
      .histogram({
        name: 'apiserver_storage_data_key_generation_duration_seconds',
        help: 'Time to generate a data key, in seconds.',
        buckets: localBuckets,
      })
      .labels({});
    this.generationFailures = metrics
      .counter({
        name: 'apiserver_storage_data_key_generation_failures_total',
        help: 'Data keys that could not be generated.',
      })
      .labels({});
    this.misses = metrics
      .counter({
        name: 'apiserver_storage_envelope_transformation_cache_misses_total',
        help: 'Decryptions whose data key was not cached.',
      })
      .labels({});
    this.fill = metrics.gauge({
      name: 'apiserver_envelope_encryption_dek_cache_fill_percent',
      help: 'Used part of the cache of data keys, from 0 to 1.',
    });
    this.arrivals = metrics.histogram<'transformation_type'>({
      name: 'apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds',
      help: 'Time between uses of data keys, in seconds.',
      labels: ['transformation_type'],
      buckets: arrivalBuckets,
    });
  }

  transformed(type: TransformationType, prefix: string, seconds: number, error?: unknown): void {
    const labels = { transformation_type: type };
    const result = error === undefined ? 'OK' : statusOf(error);
    this.operations.inc({ ...labels, transformer_prefix: prefix, status: result });
    if (error === undefined) this.durations.observe(labels, seconds);
  }

  dataKeyGenerated(seconds: number): void {
    this.generations.observe(seconds);
  }

  dataKeyGenerationFailed(): void {
    this.generationFailures.inc();
  }

  dataKeyUsed(type: TransformationType): void {
    const nowMs = this.clock.monotonicMs();
    const lastMs = this.usedMs.get(type);
    this.usedMs.set(type, nowMs);
    if (lastMs === undefined) return;
    this.arrivals.observe({ transformation_type: type }, (nowMs - lastMs) / 1_000);
  }

  dataKeyMissed(): void {
    this.misses.inc();
  }

  dataKeyCached(share: number): void {
    this.fill.set(share);
  }
}

/** The name of a code of gRPC, as `DeadlineExceeded`. */
function statusOf(error: unknown): string {
  const cause = error instanceof KmsError ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const name = typeof code === 'number' ? status[code] : undefined;
  if (name === undefined) return 'Unknown';
  return name
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
