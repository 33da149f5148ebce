/**
 * Receives a snapshot from the leader, beside the state in use. One at a time; one of a newer term
 * replaces an older one, whose leader is deposed. A complete and verified snapshot is offered to
 * the core, which installs or refuses it.
 */
import type { Logger, LoopClock } from '@orch/component';
import type { LogIndex, MemberId, SnapshotPoint, Term } from '../../core/types.js';
import type { LogObserver } from '../../log-observer.js';
import type { IncomingSnapshot, SnapshotHandlers } from '../../replicated-log.js';

export interface SnapshotReceiverDependencies {
  readonly receive: SnapshotHandlers['receive'];
  readonly clock: LoopClock;
  readonly logger: Logger;
  readonly observer: LogObserver | undefined;
  readonly position: () => { readonly term: Term; readonly commitIndex: LogIndex };
  /** A snapshot may come to a replica that is not behind: it has no usable state. */
  readonly needsSnapshot: () => boolean;
  /** Resolves with whether it is being installed. From then on it is the installer's. */
  readonly offer: (from: MemberId, term: Term, point: SnapshotPoint) => Promise<boolean>;
}

interface Receiving {
  readonly term: Term;
  readonly done: Promise<void>;
  ended: boolean;
}

export class SnapshotReceiver {
  private current: Receiving | undefined;
  private stopped = false;

  constructor(private readonly dependencies: SnapshotReceiverDependencies) {}

  /** Resolves once it is whole, verified and accepted. Rejects to refuse. */
  async receive(
    from: MemberId,
    term: Term,
    point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void> {
    const before = this.current;
    if (before && before.term >= term) throw new Error('another snapshot is coming in');
    this.check(term, point);
    if (before) before.ended = true;
    let finished: () => void = () => undefined;
    const done = new Promise<void>((resolve) => {
      finished = resolve;
    });
    const receiving: Receiving = { term, done, ended: false };
    this.current = receiving;
    try {
      await before?.done;
      await this.take(receiving, from, point, chunks);
      this.dependencies.observer?.snapshotEnded('received', from, true);
    } catch (error) {
      this.dependencies.observer?.snapshotEnded('received', from, false);
      this.dependencies.logger.warn(
        { peer: from, index: point.index, error },
        'a snapshot was not taken',
      );
      throw error;
    } finally {
      if (this.current === receiving) this.current = undefined;
      finished();
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    const current = this.current;
    if (!current) return;
    current.ended = true;
    await current.done;
  }

  private async take(
    receiving: Receiving,
    from: MemberId,
    point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void> {
    const { clock, logger, observer, receive, offer } = this.dependencies;
    const startedMs = clock.monotonicMs();
    this.check(receiving.term, point, receiving);
    const incoming = await receive();
    let byteCount = 0;
    let accepted = false;
    try {
      for await (const chunk of chunks) {
        this.check(receiving.term, point, receiving);
        await incoming.write(chunk);
        byteCount += chunk.length;
        observer?.snapshotBytes('received', from, chunk.length);
      }
      await this.verify(incoming, point);
      this.check(receiving.term, point, receiving);
      accepted = await offer(from, receiving.term, point);
      if (!accepted) throw new Error('the snapshot has been overtaken by entries or a new leader');
    } finally {
      if (!accepted) await incoming.discard();
    }
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    logger.info({ peer: from, index: point.index, byteCount, durationMs }, 'snapshot received');
  }

  private async verify(incoming: IncomingSnapshot, point: SnapshotPoint): Promise<void> {
    const { appliedIndex } = await incoming.finish();
    if (appliedIndex !== point.index) {
      throw new Error(`the snapshot is of ${appliedIndex}, not of ${point.index} as announced`);
    }
  }

  private check(term: Term, point: SnapshotPoint, receiving?: Receiving): void {
    const { position, needsSnapshot } = this.dependencies;
    const now = position();
    if (this.stopped) throw new Error('this replica is stopping');
    if (receiving?.ended) throw new Error('a snapshot of a newer leader takes the place');
    if (term < now.term) throw new Error(`its leader of term ${term} leads no more`);
    if (point.index <= now.commitIndex && !needsSnapshot()) {
      throw new Error(`this replica has more than ${point.index} already`);
    }
  }
}
