/**
 * The destination of audit events, and the two ways to deliver them: one by one while the request
 * waits, or in batches.
 */
import type { Logger } from '@orch/component';
import type { AuditMetrics } from './audit-metrics.js';
import type { AuditEvent } from './event.js';

/** Stores events, or sends them to a server that stores them. */
export interface AuditSink {
  /** For metrics and the log. */
  readonly name: string;
  /** Resolves when the events are stored; rejects when they are lost. */
  write(events: readonly AuditEvent[]): Promise<void>;
  /** Aborts pending writes and releases resources. */
  close(): Promise<void>;
}

export interface AuditBackend {
  /**
   * Returns undefined if the request need not wait. Rejects if it must not continue without the
   * event.
   */
  take(event: AuditEvent): Promise<void> | undefined;
  /** Resolves when all accepted events are stored, or when the time limit is over. */
  stop(): Promise<void>;
}

export const auditModes = ['batch', 'blocking', 'blocking-strict'] as const;
export type AuditMode = (typeof auditModes)[number];

export interface LossReport {
  readonly metrics: AuditMetrics;
  readonly logger: Logger;
}

/** Counts and logs lost events. */
export function reportLoss(
  { metrics, logger }: LossReport,
  name: string,
  eventCount: number,
  error: unknown,
): void {
  metrics.lost(name, eventCount);
  logger.error({ err: error, backend: name, eventCount }, 'audit events lost');
}

/** Modes `blocking` and `blocking-strict`. */
export class BlockingBackend implements AuditBackend {
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly sink: AuditSink,
    private readonly isStrict: boolean,
    private readonly report: LossReport,
  ) {}

  take(event: AuditEvent): Promise<void> {
    const { sink, isStrict } = this;
    const writing = sink.write([event]).catch((error: unknown) => {
      reportLoss(this.report, sink.name, 1, error);
      // Only a request that has not started can be rejected.
      if (isStrict && event.stage === 'RequestReceived') throw error;
    });
    const ended = writing.then(
      () => undefined,
      () => undefined,
    );
    this.running.add(ended);
    void ended.then(() => this.running.delete(ended));
    return writing;
  }

  async stop(): Promise<void> {
    await Promise.all(this.running);
    await this.sink.close();
  }
}
