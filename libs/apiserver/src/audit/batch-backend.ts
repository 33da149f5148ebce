/**
 * Mode `batch`: events wait in a buffer of fixed size and are written in batches, so that no request
 * waits. What does not fit into the buffer is lost, and counted.
 */
import type { Clock, Timer } from '@orch/component';
import { auditBatchesRunningMax, auditStopTimeoutMs } from '../limits.js';
import { type AuditBackend, type AuditSink, type LossReport, reportLoss } from './audit-backend.js';
import type { AuditEvent } from './event.js';

export interface BatchSettings {
  /** Events that wait; more are lost. */
  readonly bufferSize: number;
  /** Events written at once. */
  readonly maxSize: number;
  /** How long the first event of a batch waits for others; 0: not at all. */
  readonly maxWaitMs: number;
  /** Batches a second, and as many at once after a pause; undefined: as fast as they come. */
  readonly throttle: { readonly qps: number; readonly burst: number } | undefined;
  /** Batches under way at once; one keeps the order. */
  readonly runningMax?: number;
}

export class BatchBackend implements AuditBackend {
  private readonly waiting: AuditEvent[] = [];
  private readonly running = new Set<Promise<void>>();
  private timer: Timer | undefined;
  private tokens: number;
  private tokensAtMs: number;
  private isStopping = false;

  constructor(
    private readonly sink: AuditSink,
    private readonly settings: BatchSettings,
    private readonly clock: Clock,
    private readonly report: LossReport,
  ) {
    this.tokens = settings.throttle?.burst ?? 0;
    this.tokensAtMs = clock.monotonicMs();
  }

  take(event: AuditEvent): undefined {
    if (this.isStopping || this.waiting.length >= this.settings.bufferSize) {
      const why = new Error(this.isStopping ? 'the server is ending' : 'the buffer is full');
      reportLoss(this.report, this.sink.name, 1, why);
      return;
    }
    this.waiting.push(event);
    this.proceed();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.timer?.cancel();
    this.timer = undefined;
    this.proceed();
    let deadline: Timer | undefined;
    const over = new Promise<void>((resolve) => {
      deadline = this.clock.setTimer(auditStopTimeoutMs, resolve);
    });
    await Promise.race([this.drained(), over]);
    deadline?.cancel();
    await this.sink.close();
    await this.drained();
  }

  private async drained(): Promise<void> {
    while (this.running.size > 0) await Promise.race(this.running);
  }

  /** Writes what may be written now, and comes back for the rest. */
  private proceed(): void {
    const { maxSize, maxWaitMs, runningMax = auditBatchesRunningMax } = this.settings;
    while (this.waiting.length > 0 && this.running.size < runningMax) {
      const isDue = this.waiting.length >= maxSize || maxWaitMs === 0 || this.isStopping;
      if (!isDue) {
        this.comeBack(maxWaitMs);
        return;
      }
      const pauseMs = this.isStopping ? 0 : this.pauseMs();
      if (pauseMs > 0) {
        // A batch that is full does not wait for the time of one that is not.
        this.timer?.cancel();
        this.timer = undefined;
        this.comeBack(pauseMs);
        return;
      }
      this.writeBatch();
    }
  }

  private comeBack(delayMs: number): void {
    this.timer ??= this.clock.setTimer(delayMs, () => {
      this.timer = undefined;
      const { runningMax = auditBatchesRunningMax } = this.settings;
      const mayWrite = this.running.size < runningMax && this.pauseMs() === 0;
      // Whatever there is has waited for long enough.
      if (this.waiting.length > 0 && mayWrite) this.writeBatch();
      this.proceed();
    });
  }

  /** Until the throttle lets a batch through. */
  private pauseMs(): number {
    const { throttle } = this.settings;
    if (!throttle) return 0;
    const nowMs = this.clock.monotonicMs();
    const earned = ((nowMs - this.tokensAtMs) / 1_000) * throttle.qps;
    this.tokens = Math.min(throttle.burst, this.tokens + earned);
    this.tokensAtMs = nowMs;
    return this.tokens >= 1 ? 0 : Math.ceil(((1 - this.tokens) / throttle.qps) * 1_000);
  }

  private writeBatch(): void {
    this.tokens -= 1;
    const batch = this.waiting.splice(0, this.settings.maxSize);
    const writing = this.sink.write(batch).catch((error: unknown) => {
      reportLoss(this.report, this.sink.name, batch.length, error);
    });
    this.running.add(writing);
    void writing.then(() => {
      this.running.delete(writing);
      this.proceed();
    });
  }
}
