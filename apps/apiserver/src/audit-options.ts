/** Flags of the audit log: what is recorded, and how each of the two backends takes it. */
import { type AuditLogFormat, type AuditMode, auditLogFormats, auditModes } from '@orch/apiserver';
import { Flag, Flags } from '@orch/component';
import { IsIn, IsInt, Max, Min } from 'class-validator';

/** How a backend takes events. */
export interface AuditBackendOptions {
  readonly mode: AuditMode;
  readonly bufferSize: number;
  readonly batchSizeMax: number;
  readonly batchWaitMs: number;
  readonly isThrottled: boolean;
  readonly throttleQps: number;
  readonly throttleBurst: number;
  readonly truncates: boolean;
  readonly eventBytesMax: number;
  readonly batchBytesMax: number;
}

interface BackendDefaults {
  readonly mode: AuditMode;
  readonly batchSizeMax: number;
  readonly batchWait: string;
  readonly isThrottled: boolean;
  readonly throttleQps: number;
  readonly throttleBurst: number;
}

/** The same flags for each backend, under its name. */
function backendOptions(backend: 'log' | 'webhook', defaults: BackendDefaults) {
  const named = (name: string) => `audit-${backend}-${name}`;
  class BackendOptions implements AuditBackendOptions {
    @Flag({
      name: named('mode'),
      description: `${auditModes.join(', ')}: batch buffers events and no request waits; blocking begins no request before its first event is written; blocking-strict refuses it when that fails`,
      default: defaults.mode,
      type: 'string',
    })
    @IsIn(auditModes)
    mode!: AuditMode;

    @Flag({
      name: named('batch-buffer-size'),
      description:
        'mode batch: events that may wait; higher: more memory, lower: events are lost in a rush',
      default: 10_000,
    })
    @IsInt()
    @Min(1)
    @Max(1_000_000)
    bufferSize!: number;

    @Flag({
      name: named('batch-max-size'),
      description:
        'mode batch: events written at once; higher: larger writes, lower: more of them for the same events',
      default: defaults.batchSizeMax,
    })
    @IsInt()
    @Min(1)
    @Max(100_000)
    batchSizeMax!: number;

    @Flag({
      name: named('batch-max-wait'),
      description:
        'mode batch: how long an event waits for others; higher: told later, and more is lost in a crash, lower: smaller batches',
      default: defaults.batchWait,
      type: 'duration',
    })
    @Min(0)
    batchWaitMs!: number;

    @Flag({
      name: named('batch-throttle-enable'),
      description: 'mode batch: keep to a rate of batches',
      default: defaults.isThrottled,
    })
    isThrottled!: boolean;

    @Flag({
      name: named('batch-throttle-qps'),
      description:
        'mode batch: batches a second; higher: more load on what takes them, lower: the buffer fills sooner',
      default: defaults.throttleQps,
    })
    @Min(0.001)
    throttleQps!: number;

    @Flag({
      name: named('batch-throttle-burst'),
      description: 'mode batch: batches at once after a pause; higher: more load at once',
      default: defaults.throttleBurst,
    })
    @IsInt()
    @Min(1)
    throttleBurst!: number;

    @Flag({
      name: named('truncate-enabled'),
      description: 'leave objects out of events that are too large, and split batches that are',
      default: false,
    })
    truncates!: boolean;

    @Flag({
      name: named('truncate-max-event-size'),
      description:
        'bytes of an event with truncation; higher: larger events, lower: more of them without their objects',
      default: 102_400,
    })
    @IsInt()
    @Min(1)
    eventBytesMax!: number;

    @Flag({
      name: named('truncate-max-batch-size'),
      description: 'bytes of a batch with truncation; higher: larger writes, lower: more of them',
      default: 10_485_760,
    })
    @IsInt()
    @Min(1)
    batchBytesMax!: number;
  }
  return BackendOptions;
}

const LogBackendOptions = backendOptions('log', {
  mode: 'blocking',
  batchSizeMax: 1,
  batchWait: '0s',
  isThrottled: false,
  throttleQps: 10,
  throttleBurst: 15,
});

const WebhookBackendOptions = backendOptions('webhook', {
  mode: 'batch',
  batchSizeMax: 400,
  batchWait: '30s',
  isThrottled: true,
  throttleQps: 10,
  throttleBurst: 15,
});

export class AuditOptions {
  @Flag({
    name: 'audit-policy-file',
    description: 'what of which requests is recorded; without it nothing is',
    default: '',
  })
  policyFile!: string;

  @Flag({
    name: 'audit-log-path',
    description: 'file that events are appended to; - is standard output',
    default: '',
  })
  logPath!: string;

  @Flag({
    name: 'audit-log-format',
    description: 'json, an object a line; legacy, the older line without objects',
    default: 'json',
    type: 'string',
  })
  @IsIn(auditLogFormats)
  logFormat!: AuditLogFormat;

  @Flag({
    name: 'audit-log-maxage',
    description: 'days that old audit logs are kept; 0 is without end',
    default: 0,
  })
  @IsInt()
  @Min(0)
  logAgeMaxDays!: number;

  @Flag({
    name: 'audit-log-maxbackup',
    description: 'old audit logs that are kept; 0 is all',
    default: 0,
  })
  @IsInt()
  @Min(0)
  logBackupMax!: number;

  @Flag({
    name: 'audit-log-maxsize',
    description:
      'megabytes at which the audit log is begun anew; 0 is 100; higher: larger files, lower: more of them',
    default: 0,
  })
  @IsInt()
  @Min(0)
  logMegabytesMax!: number;

  @Flag({
    name: 'audit-log-compress',
    description: 'compress old audit logs with gzip',
    default: false,
  })
  logCompress!: boolean;

  @Flags(LogBackendOptions)
  readonly log!: AuditBackendOptions;

  @Flag({
    name: 'audit-webhook-config-file',
    description: 'kubeconfig of a server that events are posted to',
    default: '',
  })
  webhookConfigFile!: string;

  @Flag({
    name: 'audit-webhook-initial-backoff',
    description:
      'pause before a failed post is tried again; higher: the buffer fills sooner, lower: more load on a server in trouble',
    default: '10s',
    type: 'duration',
  })
  @Min(1)
  webhookBackoffMs!: number;

  @Flags(WebhookBackendOptions)
  readonly webhook!: AuditBackendOptions;
}
