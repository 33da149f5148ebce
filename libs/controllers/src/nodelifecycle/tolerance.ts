/** How long a pod may stay on a node with NoExecute taints. Pure. */
import { toleratesTaint } from '@orch/apimachinery';
import type { Pod, Taint } from '@orch/types/core/v1';

/** Milliseconds; 0: it has to go now; undefined: it may stay. */
export function toleranceMs(pod: Pod, taints: readonly Taint[]): number | undefined {
  const noExecute = taints.filter((taint) => taint.effect === 'NoExecute');
  const tolerations = pod.spec?.tolerations ?? [];
  let least: number | undefined;
  for (const taint of noExecute) {
    const matching = tolerations.filter((toleration) => toleratesTaint(toleration, taint));
    if (matching.length === 0) return 0;
    for (const { tolerationSeconds } of matching) {
      if (tolerationSeconds === undefined) continue;
      const ms = Math.max(0, tolerationSeconds) * 1000;
      least = Math.min(least ?? ms, ms);
    }
  }
  return least;
}
