/** When a probe's result counts: thresholds of consecutive successes and failures. Pure. */

export type ProbeOutcome = 'success' | 'failure';
export type ProbeKind = 'startup' | 'liveness' | 'readiness';
export const probeKinds: readonly ProbeKind[] = ['startup', 'liveness', 'readiness'];

export interface ProbeThresholds {
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

export class ProbeCounter {
  private last: ProbeOutcome | undefined;
  private runLength = 0;

  constructor(
    private readonly thresholds: ProbeThresholds,
    /** What holds until a threshold is met: a container is alive, but neither started nor ready. */
    private current: ProbeOutcome | undefined,
  ) {}

  /** What holds now; undefined: nothing is known yet. */
  get result(): ProbeOutcome | undefined {
    return this.current;
  }

  /** Counts an outcome. Whether what holds has changed by it. */
  count(outcome: ProbeOutcome): boolean {
    this.runLength = outcome === this.last ? this.runLength + 1 : 1;
    this.last = outcome;
    const { successThreshold, failureThreshold } = this.thresholds;
    const threshold = outcome === 'success' ? successThreshold : failureThreshold;
    if (this.runLength < threshold || outcome === this.current) return false;
    this.current = outcome;
    return true;
  }
}

/** What holds of a container of which nothing is known yet. */
export function initialResult(kind: ProbeKind): ProbeOutcome | undefined {
  if (kind === 'startup') return undefined;
  return kind === 'liveness' ? 'success' : 'failure';
}
