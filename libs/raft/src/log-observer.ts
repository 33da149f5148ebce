/** What a log tells whoever measures it. Calls are synchronous and must be quick. */
import type { Leadership, MemberId } from './core/types.js';
import type { LogErrorCode } from './replicated-log.js';
import type { DropReason } from './transport/transport-observer.js';

export interface LogObserver {
  /** One synced write: how many entries and bytes it carried and how long it took. */
  synced(entryCount: number, byteCount: number, durationMs: number): void;
  /** Term, leader or role changed. */
  leadershipChanged(leadership: Leadership): void;
  /** At the leader: from the moment in which entries went to the disk until they were committed. */
  committed(durationMs: number): void;
  /** Proposals of this replica that came to nothing. */
  refused(count: number, code: LogErrorCode): void;
  /** A round of the network to a peer. */
  roundTrip(peer: MemberId, durationMs: number): void;
  /** `byteCount` more of a snapshot to or from a peer went by. */
  snapshotBytes(direction: SnapshotDirection, peer: MemberId, byteCount: number): void;
  /** A snapshot ended, whole or not. */
  snapshotEnded(direction: SnapshotDirection, peer: MemberId, succeeded: boolean): void;
  /** How late a timer of the replica's thread fired. */
  loopDelayed(durationMs: number): void;
}

/** What a log with its network tells. */
export interface ReplicaObserver extends LogObserver {
  /** `byteCount` more of messages to a peer; snapshots are not among them. */
  peerSent(peer: MemberId, byteCount: number): void;
  peerReceived(peer: MemberId, byteCount: number): void;
  /** Messages to or from a peer that were lost on this side. */
  peerDropped(peer: MemberId, messageCount: number, reason: DropReason): void;
}

export type SnapshotDirection = 'sent' | 'received';
