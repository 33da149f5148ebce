/**
 * When a server last reported to any client of this process that it is ready. Clients of one
 * process that use the same server need one probe for all; a server that is not ready, or does not
 * respond, is probed by each.
 */
import type { Clock } from '@orch/component';

/** By the origin of the server, while clients use it. */
const byClock = new WeakMap<Clock, Map<string, SharedReadiness>>();

export class SharedReadiness {
  private userCount = 0;
  private readyMs = Number.NEGATIVE_INFINITY;

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

  /** The time of the last report, on the monotonic clock. */
  get lastMs(): number {
    return this.readyMs;
  }

  /** Records that the server has reported to be ready. */
  reported(): void {
    this.readyMs = this.clock.monotonicMs();
  }

  release(): void {
    if (--this.userCount === 0) byClock.get(this.clock)?.delete(this.origin);
  }
}
