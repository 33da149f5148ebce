/**
 * Snapshots to peers that need one, and from peers until the core has said whether it installs
 * them.
 */
import type { Logger, LoopClock } from '@orch/component';
import type { LocalEvent } from '../../core/output.js';
import type { RaftCore } from '../../core/raft-core.js';
import type { LogIndex, MemberId, SnapshotPoint, Term } from '../../core/types.js';
import type { LogObserver } from '../../log-observer.js';
import type { LogHandlers } from '../../replicated-log.js';
import type { LogStore } from '../../storage/log-store.js';
import type { Transport } from '../../transport/transport.js';
import { SnapshotSender } from './snapshot-sender.js';

export interface PeerSnapshotsDependencies {
  readonly core: RaftCore;
  readonly store: LogStore;
  readonly snapshots: LogHandlers['snapshots'];
  readonly transport: Transport | undefined;
  readonly clock: LoopClock;
  readonly logger: Logger;
  readonly observer: LogObserver | undefined;
  /** While this replica leads. */
  readonly leadingTerm: () => Term | undefined;
  readonly tell: (event: LocalEvent) => void;
}

/** A snapshot that lies ready and whether the core wants it. */
interface Offer {
  readonly point: SnapshotPoint;
  readonly settle: (accepted: boolean) => void;
}

export class PeerSnapshots {
  private readonly sender: SnapshotSender | undefined;
  private offers: Offer[] = [];

  constructor(private readonly dependencies: PeerSnapshotsDependencies) {
    const { transport } = dependencies;
    this.sender = transport && this.createSender(transport);
  }

  /** Lowest index of the snapshots in flight. */
  get sendingIndex(): LogIndex | undefined {
    return this.sender?.oldestIndex;
  }

  send(to: MemberId): void {
    this.sender?.send(to);
  }

  /** Resolves with whether the core installs the snapshot that lies ready. */
  offer(from: MemberId, term: Term, point: SnapshotPoint): Promise<boolean> {
    return new Promise((settle) => {
      this.offers.push({ point, settle });
      this.dependencies.tell({ kind: 'snapshotReceived', point, from, term });
    });
  }

  /** The core has decided on the snapshot that lies ready. */
  settle(point: SnapshotPoint, accepted: boolean): void {
    const offer = this.offers.find((each) => each.point === point);
    this.offers = this.offers.filter((each) => each !== offer);
    offer?.settle(accepted);
  }

  /** No offer is taken any more. */
  refuseAll(): void {
    for (const { settle } of this.offers.splice(0)) settle(false);
  }

  /** Waits for operations in progress. */
  async stop(): Promise<void> {
    await this.sender?.stop();
  }

  private createSender(transport: Transport): SnapshotSender {
    const { snapshots, clock, logger, observer, leadingTerm, tell } = this.dependencies;
    return new SnapshotSender({
      open: () => snapshots.open(),
      transport,
      clock,
      logger,
      observer,
      pointAt: (index) => this.pointAt(index),
      leadingTerm,
      onEnded: (to, point) => tell({ kind: 'snapshotSent', to, point }),
    });
  }

  private async pointAt(index: LogIndex): Promise<SnapshotPoint | undefined> {
    const { core, store } = this.dependencies;
    const configuration = core.configurationAt(index);
    if (!configuration) return undefined;
    const point = core.pointAt(index) ?? (await store.read(index, index, 1))?.[0];
    if (!point) return undefined;
    return { index, term: point.term, checksum: point.checksum, configuration };
  }
}
