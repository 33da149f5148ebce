/** Opens the audit log with the policy and backends of the flags, and flushes it at shutdown. */
import {
  type AuditBackend,
  AuditMetrics,
  Auditor,
  AuditPolicyError,
  type AuditSink,
  BatchBackend,
  BlockingBackend,
  type LineOutput,
  LogSink,
  type LossReport,
  loadWebhookSink,
  RotatingFile,
  readAuditPolicy,
  StandardOutput,
  TruncatingSink,
} from '@orch/apiserver';
import {
  connectionOf,
  errorMessage,
  exitCodes,
  FatalError,
  KubeconfigError,
  type Metrics,
  systemClock,
} from '@orch/component';
import type { ApiServerContext } from '../context/api-server-context.js';
import type { Egress } from '../context/egress.js';
import type { AuditBackendOptions } from '../options/audit-backend-options.js';
import type { AuditOptions } from '../options/audit-options.js';

const megabyte = 1024 * 1024;
const dayMs = 24 * 3_600_000;
const logMegabytesDefault = 100;

/**
 * Returns undefined if auditing is off. Rejects with FatalError if a file of the flags is missing
 * or invalid.
 */
export async function openAuditor(
  { options, settings, logger, lifecycle }: ApiServerContext,
  metrics: Metrics,
): Promise<Auditor | undefined> {
  const { audit } = options;
  const auditMetrics = new AuditMetrics(metrics);
  const hasBackend = audit.logPath !== '' || audit.webhookConfigFile !== '';
  if (audit.policyFile === '' || !hasBackend) {
    if (hasBackend) logger.warn({}, 'nothing is audited without --audit-policy-file');
    if (audit.policyFile !== '') logger.warn({}, 'nothing is audited without a backend');
    return undefined;
  }
  try {
    const policy = readAuditPolicy(audit.policyFile);
    const report = { metrics: auditMetrics, logger };
    const backends: AuditBackend[] = [];
    if (audit.logPath !== '') {
      const sink = new LogSink(await logOutput(audit, report), audit.logFormat);
      backends.push(backendOf(sink, audit.log, report, 1));
    }
    if (audit.webhookConfigFile !== '') {
      backends.push(backendOf(await webhookSink(audit, settings.egress), audit.webhook, report));
    }
    lifecycle.onStop('audit', async () => {
      await Promise.all(backends.map((backend) => backend.stop()));
    });
    return new Auditor({ policy, backends, metrics: auditMetrics, clock: systemClock });
  } catch (error) {
    if (error instanceof AuditPolicyError || error instanceof KubeconfigError) {
      throw new FatalError(exitCodes.usage, error.message);
    }
    throw error;
  }
}

async function logOutput(audit: AuditOptions, { logger }: LossReport): Promise<LineOutput> {
  if (audit.logPath === '-') return new StandardOutput();
  const file = new RotatingFile(
    {
      path: audit.logPath,
      bytesMax: (audit.logMegabytesMax || logMegabytesDefault) * megabyte,
      backupCountMax: audit.logBackupMax,
      backupAgeMaxMs: audit.logAgeMaxDays * dayMs,
      compress: audit.logCompress,
    },
    systemClock,
    logger,
  );
  try {
    await file.open();
  } catch (error) {
    throw new FatalError(exitCodes.failed, `cannot open the audit log: ${errorMessage(error)}`);
  }
  return file;
}

async function webhookSink(audit: AuditOptions, egress: Egress): Promise<AuditSink> {
  const { WebhookSink } = await loadWebhookSink();
  return new WebhookSink({
    connection: connectionOf(audit.webhookConfigFile),
    initialBackoffMs: audit.webhookBackoffMs,
    dial: egress.controlPlane,
    random: Math.random,
  });
}

function backendOf(
  sink: AuditSink,
  { mode, batch, truncation }: AuditBackendOptions,
  report: LossReport,
  runningMax?: number,
): AuditBackend {
  const { eventBytesMax, batchBytesMax } = truncation;
  const target = truncation.enabled
    ? new TruncatingSink(sink, { eventBytesMax, batchBytesMax }, report)
    : sink;
  if (mode !== 'batch') return new BlockingBackend(target, mode === 'blocking-strict', report);
  return new BatchBackend(
    target,
    {
      bufferSize: batch.bufferSize,
      maxSize: batch.maxSize,
      maxWaitMs: batch.maxWaitMs,
      throttle: batch.isThrottled
        ? { qps: batch.throttleQps, burst: batch.throttleBurst }
        : undefined,
      ...(runningMax !== undefined && { runningMax }),
    },
    systemClock,
    report,
  );
}
