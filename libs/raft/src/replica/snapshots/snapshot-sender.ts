/**
 * Sends snapshots to replicas that are too far behind: one stream per peer, few at a time.
 * Meanwhile the log is not compacted beyond the oldest of them, so that the receiver can continue
 * from there.
 */
import type { Logger, LoopClock, Timer } from '@orch/component';
import type { LogIndex, MemberId, SnapshotPoint, Term } from '../../core/types.js';
import { snapshotRetryMs, snapshotsSendingMax } from '../../limits.js';
import type { LogObserver } from '../../log-observer.js';
import type { OutgoingSnapshot, SnapshotHandlers } from '../../replicated-log.js';
import type { Transport } from '../../transport/transport.js';

export interface SnapshotSenderDependencies {
  readonly open: SnapshotHandlers['open'];
  readonly transport: Pick<Transport, 'sendSnapshot'>;
  readonly clock: LoopClock;
  readonly logger: Logger;
  readonly observer: LogObserver | undefined;
  /** The point of an entry in the log, or of the log's start; otherwise undefined. */
  readonly pointAt: (index: LogIndex) => Promise<SnapshotPoint | undefined>;
  /** The term in which this replica leads now. */
  readonly leadingTerm: () => Term | undefined;
  readonly onEnded: (to: MemberId, point: SnapshotPoint | undefined) => void;
}

interface Sending {
  /** Known once the state is open. */
  index: LogIndex | undefined;
}

export class SnapshotSender {
  private readonly sending = new Map<MemberId, Sending>();
  private readonly waiting = new Set<MemberId>();
  private readonly retries = new Map<MemberId, Timer>();
  private readonly running = new Set<Promise<void>>();
  private stopped = false;

  constructor(private readonly dependencies: SnapshotSenderDependencies) {}

  /** The oldest state that is being sent: what follows it must stay in the log. */
  get oldestIndex(): LogIndex | undefined {
    let oldest: LogIndex | undefined;
    for (const { index } of this.sending.values()) {
      if (index !== undefined && (oldest === undefined || index < oldest)) oldest = index;
    }
    return oldest;
  }

  send(to: MemberId): void {
    this.retries.get(to)?.cancel();
    this.retries.delete(to);
    if (this.stopped || this.sending.has(to)) return;
    this.waiting.add(to);
    this.next();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.waiting.clear();
    for (const timer of this.retries.values()) timer.cancel();
    await Promise.all(this.running);
  }

  private next(): void {
    for (const to of this.waiting) {
      if (this.stopped || this.sending.size >= snapshotsSendingMax) return;
      this.waiting.delete(to);
      const sending: Sending = { index: undefined };
      this.sending.set(to, sending);
      const running = this.run(to, sending).then((tellEnd) => {
        this.running.delete(running);
        this.sending.delete(to);
        // The core may request the next one immediately.
        tellEnd();
        this.next();
      });
      this.running.add(running);
    }
  }

  /** Resolves with a function that reports the end. */
  private async run(to: MemberId, sending: Sending): Promise<() => void> {
    const { clock, logger, observer, onEnded } = this.dependencies;
    const startedMs = clock.monotonicMs();
    try {
      const point = await this.stream(to, sending);
      const durationMs = Math.round(clock.monotonicMs() - startedMs);
      logger.info({ peer: to, index: point.index, durationMs }, 'snapshot sent');
      observer?.snapshotEnded('sent', to, true);
      return () => onEnded(to, point);
    } catch (error) {
      observer?.snapshotEnded('sent', to, false);
      if (this.stopped) return () => undefined;
      logger.warn({ peer: to, error }, 'sending a snapshot failed');
      // Reported later, because the core retries immediately.
      return () => {
        const retry = clock.setTimer(snapshotRetryMs, () => {
          this.retries.delete(to);
          onEnded(to, undefined);
        });
        this.retries.set(to, retry);
      };
    }
  }

  private async stream(to: MemberId, sending: Sending): Promise<SnapshotPoint> {
    const { open, transport, pointAt, leadingTerm } = this.dependencies;
    const term = leadingTerm();
    if (term === undefined) throw new Error('this replica leads no more');
    const snapshot = await open();
    try {
      sending.index = snapshot.appliedIndex;
      const point = await pointAt(snapshot.appliedIndex);
      if (!point) {
        throw new Error(`the log does not reach back to the state at ${snapshot.appliedIndex}`);
      }
      await transport.sendSnapshot(to, term, point, this.chunks(to, term, snapshot));
      return point;
    } finally {
      await snapshot.close();
    }
  }

  private async *chunks(
    to: MemberId,
    term: Term,
    snapshot: OutgoingSnapshot,
  ): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = await snapshot.next();
      if (this.stopped || this.dependencies.leadingTerm() !== term) {
        throw new Error('this replica leads no more');
      }
      if (chunk === undefined) return;
      yield chunk;
      this.dependencies.observer?.snapshotBytes('sent', to, chunk.length);
    }
  }
}
