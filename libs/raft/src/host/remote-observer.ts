/** The observer of the replica's thread: its calls are gathered and made again on the main thread. */
import type { LogObserver } from '../log-observer.js';
import type { ObserverCall } from './protocol.js';

export class RemoteObserver implements LogObserver {
  #calls: ObserverCall[] = [];

  constructor(
    private readonly callsMax: number,
    /** So many have gathered that they should go. */
    private readonly onFull: () => void,
  ) {}

  synced(...given: Parameters<LogObserver['synced']>): void {
    this.#add(['synced', ...given]);
  }

  leadershipChanged(...given: Parameters<LogObserver['leadershipChanged']>): void {
    this.#add(['leadershipChanged', ...given]);
  }

  committed(...given: Parameters<LogObserver['committed']>): void {
    this.#add(['committed', ...given]);
  }

  refused(...given: Parameters<LogObserver['refused']>): void {
    this.#add(['refused', ...given]);
  }

  roundTrip(...given: Parameters<LogObserver['roundTrip']>): void {
    this.#add(['roundTrip', ...given]);
  }

  snapshotBytes(...given: Parameters<LogObserver['snapshotBytes']>): void {
    this.#add(['snapshotBytes', ...given]);
  }

  snapshotEnded(...given: Parameters<LogObserver['snapshotEnded']>): void {
    this.#add(['snapshotEnded', ...given]);
  }

  loopDelayed(...given: Parameters<LogObserver['loopDelayed']>): void {
    this.#add(['loopDelayed', ...given]);
  }

  take(): ObserverCall[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  #add(call: ObserverCall): void {
    this.#calls.push(call);
    if (this.#calls.length >= this.callsMax) this.onFull();
  }
}

export function makeCalls(observer: LogObserver, calls: readonly ObserverCall[]): void {
  for (const [method, ...given] of calls) {
    (observer[method] as (...given: readonly unknown[]) => void).apply(observer, given);
  }
}
