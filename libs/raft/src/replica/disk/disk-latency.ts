/** How long synced writes of the last while took: the slowest of a hundred. */
import { latencySamplesMax, latencyWindowMs } from '../../limits.js';

interface Sample {
  readonly atMs: number;
  readonly durationMs: number;
}

export class DiskLatency {
  private samples: Sample[] = [];
  private runningSinceMs: number | undefined;

  began(nowMs: number): void {
    this.runningSinceMs = nowMs;
  }

  ended(nowMs: number): number {
    const durationMs = nowMs - this.runningSinceMs!;
    this.runningSinceMs = undefined;
    this.samples.push({ atMs: nowMs, durationMs });
    if (this.samples.length > latencySamplesMax) this.samples = this.recent(nowMs);
    return durationMs;
  }

  /**
   * A write that has not ended counts with the time it has taken so far. 0: nothing was written.
   */
  p99Ms(nowMs: number): number {
    this.samples = this.recent(nowMs);
    const durations = this.samples.map(({ durationMs }) => durationMs);
    if (this.runningSinceMs !== undefined) durations.push(nowMs - this.runningSinceMs);
    if (durations.length === 0) return 0;
    durations.sort((left, right) => left - right);
    return durations[Math.min(durations.length - 1, Math.floor(durations.length * 0.99))]!;
  }

  private recent(nowMs: number): Sample[] {
    const newest = this.samples.slice(-latencySamplesMax / 2);
    return newest.filter(({ atMs }) => atMs >= nowMs - latencyWindowMs);
  }
}
