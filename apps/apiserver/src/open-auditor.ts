/** The audit log as the flags want it: policy and backends, opened at start and emptied at the end. */
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
  type ComponentContext,
  connectionOf,
  exitCodes,
  FatalError,
  KubeconfigError,
  type Metrics,
  systemClock,
} from '@orch/component';
import type { ApiServerOptions } from './api-server-options.js';
import type { AuditBackendOptions, AuditOptions } from './audit-options.js';

type Context = Pick<ComponentContext<ApiServerOptions>, 'options' | 'logger' | 'lifecycle'>;

const megabyte = 1024 * 1024;
const dayMs = 24 * 3_600_000;
const logMegabytesDefault = 100;

/** Undefined when nothing is to be recorded. Rejects with FatalError when it cannot be as wanted. */
export async function openAuditor(
  { options, logger, lifecycle }: Context,
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
      backends.push(backendOf(await webhookSink(audit), audit.webhook, report));
    }
    lifecycle.onStop('audit', async () => {
      await Promise.all(backends.map((backend) => backend.stop()));
    });
    return new Auditor({ policy, backends, metrics: auditMetrics, clock: systemClock });
  } catch (error) {
    if (error instanceof AuditPolicyError || error instanceof KubeconfigError) {
      throw new FatalError(exitCodes.usage, error.message, { cause: error });
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
    const cause = error instanceof Error ? error.message : String(error);
    throw new FatalError(exitCodes.failed, `cannot open the audit log: ${cause}`, { cause: error });
  }
  return file;
}

async function webhookSink(audit: AuditOptions): Promise<AuditSink> {
  const { WebhookSink } = await loadWebhookSink();
  return new WebhookSink({
    connection: connectionOf(audit.webhookConfigFile),
    initialBackoffMs: audit.webhookBackoffMs,
    random: Math.random,
  });
}

function backendOf(
  sink: AuditSink,
  options: AuditBackendOptions,
  report: LossReport,
  runningMax?: number,
): AuditBackend {
  const { eventBytesMax, batchBytesMax } = options;
  const target = options.truncates
    ? new TruncatingSink(sink, { eventBytesMax, batchBytesMax }, report)
    : sink;
  if (options.mode !== 'batch') {
    return new BlockingBackend(target, options.mode === 'blocking-strict', report);
  }
  return new BatchBackend(
    target,
    {
      bufferSize: options.bufferSize,
      maxSize: options.batchSizeMax,
      maxWaitMs: options.batchWaitMs,
      throttle: options.isThrottled
        ? { qps: options.throttleQps, burst: options.throttleBurst }
        : undefined,
      ...(runningMax !== undefined && { runningMax }),
    },
    systemClock,
    report,
  );
}
