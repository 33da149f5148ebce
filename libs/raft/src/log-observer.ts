/** Measurements of a log. Calls are synchronous and must be fast. */
import type { Leadership, MemberId } from './core/types.js';
import type { LogErrorCode } from './replicated-log.js';

export interface LogObserver {
  /** One synced write: how many entries and bytes it carried and how long it took. */
  synced(entryCount: number, byteCount: number, durationMs: number): void;
  /** Term, leader or role changed. */
  leadershipChanged(leadership: Leadership): void;
  /** At the leader: from the moment in which entries went to the disk until they were committed. */
  committed(durationMs: number): void;
  /** Proposals of this replica that were refused. */
  refused(count: number, code: LogErrorCode): void;
  /** A round of the network to a peer. */
  roundTrip(peer: MemberId, durationMs: number): void;
  /** `byteCount` more bytes of a snapshot were sent to or received from a peer. */
  snapshotBytes(direction: SnapshotDirection, peer: MemberId, byteCount: number): void;
  /** A snapshot ended, whole or not. */
  snapshotEnded(direction: SnapshotDirection, peer: MemberId, succeeded: boolean): void;
  /** How late a timer of the replica's thread fired. */
  loopDelayed(durationMs: number): void;
}

/** Measurements of a log and its network. */
export interface ReplicaObserver extends LogObserver {
  /** `byteCount` more of messages to a peer; snapshots are not among them. */
  peerSent(peer: MemberId, byteCount: number): void;
  peerReceived(peer: MemberId, byteCount: number): void;
  /** Messages to or from a peer that were lost on this side. */
  peerDropped(peer: MemberId, messageCount: number, reason: DropReason): void;
}

export type SnapshotDirection = 'sent' | 'received';

export type DropReason =
  /** The queue was full: all messages that waited for the peer were dropped. */
  | 'queueFull'
  /** The connection broke while these were queued or in flight. */
  | 'disconnected'
  /** No peer has this id. */
  | 'unknownPeer'
  /** Received with a wrong sender or receiver. */
  | 'misaddressed'
  /** Above `messageBytesMax`. */
  | 'tooLarge';
