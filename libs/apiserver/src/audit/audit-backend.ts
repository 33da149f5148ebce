/** Where events go, and the ways to hand them there: one by one while the request waits, or in batches. */
import type { Logger } from '@orch/component';
import type { AuditMetrics } from './audit-metrics.js';
import type { AuditEvent } from './event.js';

/** Keeps events, or sends them to where they are kept. */
export interface AuditSink {
  /** For metrics and the log. */
  readonly name: string;
  /** Resolves when they are kept; rejects when they are lost. */
  write(events: readonly AuditEvent[]): Promise<void>;
  /** Gives up waiting and lets go of what it holds. */
  close(): Promise<void>;
}

export interface AuditBackend {
  /** Undefined where nobody waits. Rejects where nothing may be done without the event. */
  take(event: AuditEvent): Promise<void> | undefined;
  /** Resolves when all that was taken is kept, or as much of it as can be in time. */
  stop(): Promise<void>;
}

export const auditModes = ['batch', 'blocking', 'blocking-strict'] as const;
export type AuditMode = (typeof auditModes)[number];

export interface LossReport {
  readonly metrics: AuditMetrics;
  readonly logger: Logger;
}

/** Says that events are lost. */
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
      // Only what has not begun can be refused.
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
