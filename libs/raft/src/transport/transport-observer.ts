/** Measurements of a transport. Calls are synchronous and must be fast. */
import type { MemberId } from '../core/types.js';
import type { DropReason } from '../log-observer.js';

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
