/**
 * Recent recommendations and changes of each autoscaler, in memory. After a restart, the current
 * replicas are the first recommendation, so that a target does not shrink within the window.
 */
import type { HPAScalingRules } from '@orch/types/autoscaling/v2beta2';
import type { Recommendation, ScaleChange } from './scaling-rules.js';

export class ScalingHistory {
  recommendations: readonly Recommendation[] = [];
  scaleUps: readonly ScaleChange[] = [];
  scaleDowns: readonly ScaleChange[] = [];

  /** Adds the first recommendation, unless there is one. */
  begin(replicas: number, atMs: number): void {
    if (this.recommendations.length === 0) this.recommendations = [{ replicas, atMs }];
  }

  /**
   * Drops recommendations older than `windowMs`. A time in the future is of a clock that went
   * back: it counts as now.
   */
  recommend(replicas: number, atMs: number, windowMs: number): void {
    const recent = [...this.recommendations, { replicas, atMs }].filter(
      (one) => one.atMs >= atMs - windowMs,
    );
    this.recommendations = recent.map((one) => ({ ...one, atMs: Math.min(one.atMs, atMs) }));
  }

  changed(
    from: number,
    to: number,
    atMs: number,
    up: HPAScalingRules,
    down: HPAScalingRules,
  ): void {
    const change = { count: Math.abs(to - from), atMs };
    if (to > from) this.scaleUps = withChange(this.scaleUps, change, up);
    else this.scaleDowns = withChange(this.scaleDowns, change, down);
  }
}

function withChange(
  changes: readonly ScaleChange[],
  change: ScaleChange,
  { policies = [] }: HPAScalingRules,
): ScaleChange[] {
  const longestMs = Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds)) * 1000;
  return [...changes, change]
    .filter(({ atMs }) => atMs > change.atMs - longestMs)
    .map((one) => ({ ...one, atMs: Math.min(one.atMs, change.atMs) }));
}
