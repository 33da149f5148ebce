/** What a transport tells, as far as whoever measures a replica wants it. */
import type { ReplicaObserver } from '../log-observer.js';
import { silentObserver, type TransportObserver } from './transport-observer.js';

/** Tells the traffic with peers; round trips and snapshots are told by the log itself. */
export function trafficObserver(observer: ReplicaObserver): TransportObserver {
  return {
    ...silentObserver,
    sent: (peer, _messageCount, byteCount) => observer.peerSent(peer, byteCount),
    received: (peer, _messageCount, byteCount) => observer.peerReceived(peer, byteCount),
    dropped: (peer, messageCount, reason) => observer.peerDropped(peer, messageCount, reason),
  };
}
