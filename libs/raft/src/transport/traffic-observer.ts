/** The measurements of a transport that belong to a replica. */
import type { ReplicaObserver } from '../log-observer.js';
import { silentObserver, type TransportObserver } from './transport-observer.js';

/** Reports the traffic with peers; the log itself reports round trips and snapshots. */
export function trafficObserver(observer: ReplicaObserver): TransportObserver {
  return {
    ...silentObserver,
    sent: (peer, _messageCount, byteCount) => observer.peerSent(peer, byteCount),
    received: (peer, _messageCount, byteCount) => observer.peerReceived(peer, byteCount),
    dropped: (peer, messageCount, reason) => observer.peerDropped(peer, messageCount, reason),
  };
}
