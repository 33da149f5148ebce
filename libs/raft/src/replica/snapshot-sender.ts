/**
 * Sends the state to replicas that are too far behind: one stream a peer, few at a time. The log is not cut
 * beyond the oldest of them meanwhile, so that the receiver can go on from there.
 */
import type { Logger, LoopClock, Timer } from '@orch/component';
import type { MemberId, SnapshotPoint, Term } from '../core/types.js';
import { SNAPSHOT_RETRY_MS, SNAPSHOTS_SENDING_MAX } from '../limits.js';
import type { LogObserver } from '../log-observer.js';
import type { LogIndex, OutgoingSnapshot, SnapshotHandlers } from '../replicated-log.js';
import type { Transport } from '../transport/transport.js';

export interface SnapshotSenderParts {
  readonly open: SnapshotHandlers['open'];
  readonly transport: Pick<Transport, 'sendSnapshot'>;
  readonly clock: LoopClock;
  readonly logger: Logger;
  readonly observer: LogObserver | undefined;
  /** Of an entry that is in the log, or of the log's start; undefined when it is neither. */
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
  readonly #sending = new Map<MemberId, Sending>();
  readonly #waiting = new Set<MemberId>();
  readonly #retries = new Map<MemberId, Timer>();
  readonly #running = new Set<Promise<void>>();
  #stopped = false;

  constructor(private readonly parts: SnapshotSenderParts) {}

  /** The oldest state that is being sent: what follows it must stay in the log. */
  get oldestIndex(): LogIndex | undefined {
    let oldest: LogIndex | undefined;
    for (const { index } of this.#sending.values()) {
      if (index !== undefined && (oldest === undefined || index < oldest)) oldest = index;
    }
    return oldest;
  }

  send(to: MemberId): void {
    this.#retries.get(to)?.cancel();
    this.#retries.delete(to);
    if (this.#stopped || this.#sending.has(to)) return;
    this.#waiting.add(to);
    this.#next();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.clear();
    for (const timer of this.#retries.values()) timer.cancel();
    await Promise.all(this.#running);
  }

  #next(): void {
    for (const to of this.#waiting) {
      if (this.#stopped || this.#sending.size >= SNAPSHOTS_SENDING_MAX) return;
      this.#waiting.delete(to);
      const sending: Sending = { index: undefined };
      this.#sending.set(to, sending);
      const running = this.#run(to, sending).then((tellEnd) => {
        this.#running.delete(running);
        this.#sending.delete(to);
        // It may be asked for the next one at once.
        tellEnd();
        this.#next();
      });
      this.#running.add(running);
    }
  }

  /** Resolves with how to tell the end of it. */
  async #run(to: MemberId, sending: Sending): Promise<() => void> {
    const { clock, logger, observer, onEnded } = this.parts;
    const startedMs = clock.monotonicMs();
    try {
      const point = await this.#stream(to, sending);
      const durationMs = Math.round(clock.monotonicMs() - startedMs);
      logger.info({ peer: to, index: point.index, durationMs }, 'snapshot sent');
      observer?.snapshotEnded('sent', to, true);
      return () => onEnded(to, point);
    } catch (error) {
      observer?.snapshotEnded('sent', to, false);
      if (this.#stopped) return () => undefined;
      logger.warn({ peer: to, error }, 'sending a snapshot failed');
      // Told later: the core asks again at once.
      return () => {
        const retry = clock.setTimer(SNAPSHOT_RETRY_MS, () => {
          this.#retries.delete(to);
          onEnded(to, undefined);
        });
        this.#retries.set(to, retry);
      };
    }
  }

  async #stream(to: MemberId, sending: Sending): Promise<SnapshotPoint> {
    const { open, transport, pointAt, leadingTerm } = this.parts;
    const term = leadingTerm();
    if (term === undefined) throw new Error('this replica leads no more');
    const snapshot = await open();
    try {
      sending.index = snapshot.appliedIndex;
      const point = await pointAt(snapshot.appliedIndex);
      if (!point) {
        throw new Error(`the log does not reach back to the state at ${snapshot.appliedIndex}`);
      }
      await transport.sendSnapshot(to, term, point, this.#chunks(to, term, snapshot));
      return point;
    } finally {
      await snapshot.close();
    }
  }

  async *#chunks(to: MemberId, term: Term, snapshot: OutgoingSnapshot): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = await snapshot.next();
      if (this.#stopped || this.parts.leadingTerm() !== term) {
        throw new Error('this replica leads no more');
      }
      if (chunk === undefined) return;
      yield chunk;
      this.parts.observer?.snapshotBytes('sent', to, chunk.length);
    }
  }
}
