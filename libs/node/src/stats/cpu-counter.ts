/**
 * The CPU time of one container or node as a counter that never decreases, and its rate over the
 * time between the latest two samples. Pure.
 */

export interface CpuUsage {
  /** CPU time since the start. */
  readonly coreNanoseconds: number;
  /** Nanoseconds of CPU time per second; undefined before the first rate is known. */
  readonly nanoCores: number | undefined;
}

export interface CpuSample {
  /** On the monotonic clock. */
  readonly monotonicMs: number;
  readonly coreNanoseconds: number;
}

export class CpuCounter {
  private total = 0;
  private rate: number | undefined;
  private last: CpuSample | undefined;

  /**
   * Adds a sample. `ageMs`: how long the subject has run; the first sample has a rate only if the
   * subject is younger than `freshMs`, because an average over a long life is no current usage.
   */
  add(sample: CpuSample, ageMs: number, freshMs: number): void {
    const { last } = this;
    this.last = sample;
    if (!last) {
      this.total = sample.coreNanoseconds;
      const isFresh = ageMs >= rateWindowMinMs && ageMs <= freshMs;
      this.rate = isFresh ? rateOf(sample.coreNanoseconds, ageMs) : undefined;
      return;
    }
    // The sum over processes falls when a process ends whose parent does not wait for it.
    const used = Math.max(0, sample.coreNanoseconds - last.coreNanoseconds);
    const windowMs = sample.monotonicMs - last.monotonicMs;
    this.total += used;
    if (windowMs > 0) this.rate = rateOf(used, windowMs);
  }

  get usage(): CpuUsage {
    return { coreNanoseconds: Math.round(this.total), nanoCores: this.rate };
  }
}

/** Shortest window of a rate: CPU time is counted in hundredths of a second. */
const rateWindowMinMs = 1_000;

function rateOf(nanoseconds: number, windowMs: number): number {
  return Math.round((nanoseconds / windowMs) * 1_000);
}
