/** Limits the rate of a watch loop against a server that closes each watch immediately. */
import { type Clock, sleep, systemClock } from '@orch/component';

/**
 * Shortest time between two watches. Higher: later changes are printed later. Lower: more requests.
 */
const periodMs = 200;

export class Pace {
  private lastMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock = systemClock) {}

  /**
   * Waits until the period since the last call has passed. Rejects with the reason of the signal
   * when it aborts.
   */
  async turn(signal?: AbortSignal): Promise<void> {
    const leftMs = this.lastMs + periodMs - this.clock.monotonicMs();
    if (leftMs > 0) await sleep(leftMs, signal, this.clock);
    this.lastMs = this.clock.monotonicMs();
  }
}
