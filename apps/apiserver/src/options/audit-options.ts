/** Flags of the audit log: the policy, the log file and the webhook. */
import { type AuditLogFormat, auditLogFormats } from '@orch/apiserver';
import { Flag, Flags } from '@orch/component';
import { IsIn, IsInt, Min } from 'class-validator';
import { type AuditBackendOptions, auditBackendOptions } from './audit-backend-options.js';

const LogBackendOptions = auditBackendOptions('log', {
  mode: 'blocking',
  batchSizeMax: 1,
  batchWait: '0s',
  isThrottled: false,
});

const WebhookBackendOptions = auditBackendOptions('webhook', {
  mode: 'batch',
  batchSizeMax: 400,
  batchWait: '30s',
  isThrottled: true,
});

export class AuditOptions {
  @Flag({
    name: 'audit-policy-file',
    description: 'file with the policy that selects the audited requests; empty: audit nothing',
    default: '',
  })
  policyFile!: string;

  @Flag({
    name: 'audit-log-path',
    description: 'file to append events to; - is standard output',
    default: '',
  })
  logPath!: string;

  @Flag({
    name: 'audit-log-format',
    description: 'json: one object per line; legacy: the older line without objects',
    default: 'json',
    type: 'string',
  })
  @IsIn(auditLogFormats)
  logFormat!: AuditLogFormat;

  @Flag({
    name: 'audit-log-maxage',
    description:
      'days for which old audit logs are retained; 0 is no limit. Higher: more disk. Lower: a shorter record.',
    default: 0,
  })
  @IsInt()
  @Min(0)
  logAgeMaxDays!: number;

  @Flag({
    name: 'audit-log-maxbackup',
    description:
      'number of old audit logs to retain; 0 is no limit. Higher: more disk. Lower: a shorter record.',
    default: 0,
  })
  @IsInt()
  @Min(0)
  logBackupMax!: number;

  @Flag({
    name: 'audit-log-maxsize',
    description:
      'megabytes at which the audit log is rotated; 0 is 100. Higher: larger files. Lower: more files.',
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
    description: 'kubeconfig of a server to post events to',
    default: '',
  })
  webhookConfigFile!: string;

  @Flag({
    name: 'audit-webhook-initial-backoff',
    description:
      'pause before a failed post is retried. Higher: the buffer fills sooner. Lower: more load on a failing server.',
    default: '10s',
    type: 'duration',
  })
  @Min(1)
  webhookBackoffMs!: number;

  @Flags(WebhookBackendOptions)
  readonly webhook!: AuditBackendOptions;
}
