/**
 * The observer of the replica's thread: collects its calls and repeats them on the main thread.
 * Bytes to and from peers, counted for every frame, are sent as sums.
 */
import type { MemberId } from '../core/types.js';
import type { LogObserver, ReplicaObserver } from '../log-observer.js';
import type { ObserverCall } from './protocol.js';

export class RemoteObserver implements ReplicaObserver {
  private calls: ObserverCall[] = [];
  private readonly sentBytes = new Map<MemberId, number>();
  private readonly receivedBytes = new Map<MemberId, number>();

  constructor(
    private readonly callsMax: number,
    /** So many have gathered that they should go. */
    private readonly onFull: () => void,
  ) {}

  synced(...given: Parameters<LogObserver['synced']>): void {
    this.add(['synced', ...given]);
  }

  leadershipChanged(...given: Parameters<LogObserver['leadershipChanged']>): void {
    this.add(['leadershipChanged', ...given]);
  }

  committed(...given: Parameters<LogObserver['committed']>): void {
    this.add(['committed', ...given]);
  }

  refused(...given: Parameters<LogObserver['refused']>): void {
    this.add(['refused', ...given]);
  }

  roundTrip(...given: Parameters<LogObserver['roundTrip']>): void {
    this.add(['roundTrip', ...given]);
  }

  snapshotBytes(...given: Parameters<LogObserver['snapshotBytes']>): void {
    this.add(['snapshotBytes', ...given]);
  }

  snapshotEnded(...given: Parameters<LogObserver['snapshotEnded']>): void {
    this.add(['snapshotEnded', ...given]);
  }

  loopDelayed(...given: Parameters<LogObserver['loopDelayed']>): void {
    this.add(['loopDelayed', ...given]);
  }

  peerSent(peer: MemberId, byteCount: number): void {
    this.sentBytes.set(peer, (this.sentBytes.get(peer) ?? 0) + byteCount);
  }

  peerReceived(peer: MemberId, byteCount: number): void {
    this.receivedBytes.set(peer, (this.receivedBytes.get(peer) ?? 0) + byteCount);
  }

  peerDropped(...given: Parameters<ReplicaObserver['peerDropped']>): void {
    this.add(['peerDropped', ...given]);
  }

  take(): ObserverCall[] {
    const calls = this.calls;
    this.calls = [];
    for (const [peer, byteCount] of this.sentBytes) calls.push(['peerSent', peer, byteCount]);
    for (const [peer, byteCount] of this.receivedBytes) {
      calls.push(['peerReceived', peer, byteCount]);
    }
    this.sentBytes.clear();
    this.receivedBytes.clear();
    return calls;
  }

  private add(call: ObserverCall): void {
    this.calls.push(call);
    if (this.calls.length >= this.callsMax) this.onFull();
  }
}

export function makeCalls(observer: ReplicaObserver, calls: readonly ObserverCall[]): void {
  for (const [method, ...given] of calls) {
    (observer[method] as (...given: readonly unknown[]) => void).apply(observer, given);
  }
}
