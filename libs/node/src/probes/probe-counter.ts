/** Applies the thresholds of consecutive successes and failures of a probe. Pure. */

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
    /**
     * The result until a threshold is reached: a container is alive, but neither started nor ready.
     */
    private current: ProbeOutcome | undefined,
  ) {}

  /** The current result; undefined before the first. */
  get result(): ProbeOutcome | undefined {
    return this.current;
  }

  /** Counts an outcome. Returns whether it changed the result. */
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

/** Returns the result before the first probe. */
export function initialResult(kind: ProbeKind): ProbeOutcome | undefined {
  if (kind === 'startup') return undefined;
  return kind === 'liveness' ? 'success' : 'failure';
}
