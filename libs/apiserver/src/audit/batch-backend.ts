/**
 * Mode `batch`: events wait in a bounded buffer and are written in batches, so that no request
 * waits. Events that do not fit into the buffer are lost and counted.
 */
import type { Clock, Timer } from '@orch/component';
import { auditBatchesRunningMax, auditStopTimeoutMs } from '../limits.js';
import { type AuditBackend, type AuditSink, type LossReport, reportLoss } from './audit-backend.js';
import type { AuditEvent } from './event.js';

export interface BatchOptions {
  /** Maximum number of buffered events; further ones are lost. */
  readonly bufferSize: number;
  /** Maximum number of events in one batch. */
  readonly maxSize: number;
  /** Time that the first event of a batch waits for others; 0: none. */
  readonly maxWaitMs: number;
  /** Batches per second, and the burst after a pause; undefined: unlimited. */
  readonly throttle: { readonly qps: number; readonly burst: number } | undefined;
  /** Concurrent batches; 1 preserves the order. */
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
    private readonly options: BatchOptions,
    private readonly clock: Clock,
    private readonly report: LossReport,
  ) {
    this.tokens = options.throttle?.burst ?? 0;
    this.tokensAtMs = clock.monotonicMs();
  }

  take(event: AuditEvent): undefined {
    if (this.isStopping || this.waiting.length >= this.options.bufferSize) {
      const cause = new Error(this.isStopping ? 'the server is stopping' : 'the buffer is full');
      reportLoss(this.report, this.sink.name, 1, cause);
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
    const timedOut = new Promise<void>((resolve) => {
      deadline = this.clock.setTimer(auditStopTimeoutMs, resolve);
    });
    await Promise.race([this.drained(), timedOut]);
    deadline?.cancel();
    await this.sink.close();
    await this.drained();
  }

  private async drained(): Promise<void> {
    while (this.running.size > 0) await Promise.race(this.running);
  }

  /** Writes the batches that are due, and sets a timer for the rest. */
  private proceed(): void {
    const { maxSize, maxWaitMs, runningMax = auditBatchesRunningMax } = this.options;
    while (this.waiting.length > 0 && this.running.size < runningMax) {
      const isDue = this.waiting.length >= maxSize || maxWaitMs === 0 || this.isStopping;
      if (!isDue) {
        this.schedule(maxWaitMs);
        return;
      }
      const pauseMs = this.isStopping ? 0 : this.pauseMs();
      if (pauseMs > 0) {
        // A full batch does not wait for the timer of an incomplete one.
        this.timer?.cancel();
        this.timer = undefined;
        this.schedule(pauseMs);
        return;
      }
      this.writeBatch();
    }
  }

  private schedule(delayMs: number): void {
    this.timer ??= this.clock.setTimer(delayMs, () => {
      this.timer = undefined;
      const { runningMax = auditBatchesRunningMax } = this.options;
      const mayWrite = this.running.size < runningMax && this.pauseMs() === 0;
      // Every buffered event has waited for long enough.
      if (this.waiting.length > 0 && mayWrite) this.writeBatch();
      this.proceed();
    });
  }

  /** Time until the throttle permits a batch. */
  private pauseMs(): number {
    const { throttle } = this.options;
    if (!throttle) return 0;
    const nowMs = this.clock.monotonicMs();
    const earned = ((nowMs - this.tokensAtMs) / 1_000) * throttle.qps;
    this.tokens = Math.min(throttle.burst, this.tokens + earned);
    this.tokensAtMs = nowMs;
    return this.tokens >= 1 ? 0 : Math.ceil(((1 - this.tokens) / throttle.qps) * 1_000);
  }

  private writeBatch(): void {
    this.tokens -= 1;
    const batch = this.waiting.splice(0, this.options.maxSize);
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
