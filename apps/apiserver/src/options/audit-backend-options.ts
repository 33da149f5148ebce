/** Flags of one audit backend: mode, batches and truncation. Both backends have the same flags. */
import { type AuditMode, auditModes } from '@orch/apiserver';
import { Flag, Flags } from '@orch/component';
import { IsIn, IsInt, Max, Min } from 'class-validator';

export interface AuditBatchOptions {
  readonly bufferSize: number;
  readonly maxSize: number;
  readonly maxWaitMs: number;
  readonly isThrottled: boolean;
  readonly throttleQps: number;
  readonly throttleBurst: number;
}

export interface AuditTruncationOptions {
  readonly enabled: boolean;
  readonly eventBytesMax: number;
  readonly batchBytesMax: number;
}

export interface AuditBackendOptions {
  readonly mode: AuditMode;
  readonly batch: AuditBatchOptions;
  readonly truncation: AuditTruncationOptions;
}

export interface AuditBackendDefaults {
  readonly mode: AuditMode;
  readonly batchSizeMax: number;
  readonly batchWait: string;
  readonly isThrottled: boolean;
}

type Backend = 'log' | 'webhook';

/** Returns the options class of a backend; the names of its flags contain the backend. */
export function auditBackendOptions(backend: Backend, defaults: AuditBackendDefaults) {
  const BatchOptions = batchOptions(backend, defaults);
  const TruncationOptions = truncationOptions(backend);

  class BackendOptions implements AuditBackendOptions {
    @Flag({
      name: `audit-${backend}-mode`,
      description: `${auditModes.join(', ')}: batch buffers events and delays no request; blocking delays the response until the first event is written; blocking-strict also fails the request if the write fails`,
      default: defaults.mode,
      type: 'string',
    })
    @IsIn(auditModes)
    mode!: AuditMode;

    @Flags(BatchOptions)
    readonly batch!: AuditBatchOptions;

    @Flags(TruncationOptions)
    readonly truncation!: AuditTruncationOptions;
  }
  return BackendOptions;
}

function batchOptions(backend: Backend, defaults: AuditBackendDefaults) {
  const named = (name: string) => `audit-${backend}-batch-${name}`;

  class BatchOptions implements AuditBatchOptions {
    @Flag({
      name: named('buffer-size'),
      description:
        'mode batch: events that the buffer holds. Higher: more memory. Lower: bursts lose events.',
      default: 10_000,
    })
    @IsInt()
    @Min(1)
    @Max(1_000_000)
    bufferSize!: number;

    @Flag({
      name: named('max-size'),
      description: 'mode batch: events per write. Higher: larger writes. Lower: more writes.',
      default: defaults.batchSizeMax,
    })
    @IsInt()
    @Min(1)
    @Max(100_000)
    maxSize!: number;

    @Flag({
      name: named('max-wait'),
      description:
        'mode batch: time for which a batch collects events. Higher: events are written later, and a crash loses more. Lower: smaller batches.',
      default: defaults.batchWait,
      type: 'duration',
    })
    @Min(0)
    maxWaitMs!: number;

    @Flag({
      name: named('throttle-enable'),
      description: 'mode batch: limit the rate of batches',
      default: defaults.isThrottled,
    })
    isThrottled!: boolean;

    @Flag({
      name: named('throttle-qps'),
      description:
        'mode batch: average batches per second. Higher: more load on the backend. Lower: the buffer fills sooner.',
      default: 10,
    })
    @Min(0.001)
    throttleQps!: number;

    @Flag({
      name: named('throttle-burst'),
      description:
        'mode batch: batches that may exceed that rate in a burst. Higher: sharper load peaks. Lower: the buffer empties more slowly.',
      default: 15,
    })
    @IsInt()
    @Min(1)
    throttleBurst!: number;
  }
  return BatchOptions;
}

function truncationOptions(backend: Backend) {
  const named = (name: string) => `audit-${backend}-truncate-${name}`;

  class TruncationOptions implements AuditTruncationOptions {
    @Flag({
      name: named('enabled'),
      description:
        'omit the objects of events that are too large, and split batches that are too large',
      default: false,
    })
    enabled!: boolean;

    @Flag({
      name: named('max-event-size'),
      description:
        'with truncation: bytes of an event. Higher: larger events. Lower: more events without their objects.',
      default: 102_400,
    })
    @IsInt()
    @Min(1)
    eventBytesMax!: number;

    @Flag({
      name: named('max-batch-size'),
      description: 'with truncation: bytes of a batch. Higher: larger writes. Lower: more writes.',
      default: 10_485_760,
    })
    @IsInt()
    @Min(1)
    batchBytesMax!: number;
  }
  return TruncationOptions;
}
