/** What a transport tells of its traffic, for metrics. Calls are synchronous and must be quick. */
import type { MemberId } from '../core/types.js';

export type DropReason =
  /** No room: everything that waited for the peer was dropped. */
  | 'queueFull'
  /** The connection broke with these queued or under way. */
  | 'disconnected'
  /** Nobody of that id is known. */
  | 'unknownPeer'
  /** Received from somebody who claimed to be another, or meant for another. */
  | 'misaddressed'
  /** Above `MESSAGE_BYTES_MAX`. */
  | 'tooLarge';

export interface TransportObserver {
  sent(peer: MemberId, messageCount: number, byteCount: number): void;
  received(peer: MemberId, messageCount: number, byteCount: number): void;
  dropped(peer: MemberId, messageCount: number, reason: DropReason): void;
  /** A frame that does not match its checksum or schema: its connection was ended. */
  damaged(peer: MemberId): void;
  connected(peer: MemberId, isConnected: boolean): void;
  roundTrip(peer: MemberId, durationMs: number): void;
  snapshotSent(peer: MemberId, byteCount: number): void;
  snapshotReceived(peer: MemberId, byteCount: number): void;
}

export const silentObserver: TransportObserver = {
  sent: () => undefined,
  received: () => undefined,
  dropped: () => undefined,
  damaged: () => undefined,
  connected: () => undefined,
  roundTrip: () => undefined,
  snapshotSent: () => undefined,
  snapshotReceived: () => undefined,
};
