/**
 * When a server last reported to any client of this process that it is ready. Clients of one
 * process that use the same server need one probe for all; a server that is not ready, or does not
 * respond, is probed by each.
 */
import type { Clock } from '@orch/component';

/** By the origin of the server, while clients use it. */
const byClock = new WeakMap<Clock, Map<string, SharedReadiness>>();

export class SharedReadiness {
  /** The time of the last report, on the monotonic clock. */
  lastMs = Number.NEGATIVE_INFINITY;
  private userCount = 0;

  private constructor(
    private readonly clock: Clock,
    private readonly origin: string,
  ) {}

  /** Returns that of the server. Call `release` when the client no longer uses it. */
  static acquire(clock: Clock, origin: string): SharedReadiness {
    const all = byClock.get(clock) ?? new Map<string, SharedReadiness>();
    byClock.set(clock, all);
    const shared = all.get(origin) ?? new SharedReadiness(clock, origin);
    all.set(origin, shared);
    shared.userCount++;
    return shared;
  }

  /** Records that the server has reported to be ready. */
  reported(): void {
    this.lastMs = this.clock.monotonicMs();
  }

  release(): void {
    if (--this.userCount === 0) byClock.get(this.clock)?.delete(this.origin);
  }
}
