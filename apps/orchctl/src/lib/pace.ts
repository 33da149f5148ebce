/** Keeps a loop of watches slow enough for a server that ends each of them at once. */
import { type Clock, sleep, systemClock } from '@orch/component';

/** Shortest time from one turn to the next. Longer: changes in between are shown later. */
const periodMs = 200;

export class Pace {
  private lastMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock = systemClock) {}

  /** Waits while the last turn is too recent; rejects with the signal's reason when it aborts. */
  async turn(signal?: AbortSignal): Promise<void> {
    const leftMs = this.lastMs + periodMs - this.clock.monotonicMs();
    if (leftMs > 0) await sleep(leftMs, signal, this.clock);
    this.lastMs = this.clock.monotonicMs();
  }
}
