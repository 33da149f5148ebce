/** How many nodes an update of a daemon set may affect at a time. Pure. */
import { scaledValue } from '@orch/apimachinery';
import type { DaemonSet } from '@orch/types/apps/v1';
import type { UpdateBounds } from './daemonset-plan.js';

/** Whether the set surges. Behind a gate: `isSurgeEnabled`. */
export function isSurging(set: DaemonSet, isSurgeEnabled: boolean): boolean {
  return isSurgeEnabled && boundsOf(set, 100, true).maxSurge > 0;
}

/** Shares are rounded up, as in the recorded behaviour; one of the bounds is never 0. */
export function boundsOf(
  { spec }: DaemonSet,
  nodeCount: number,
  isSurgeEnabled: boolean,
): UpdateBounds {
  const rolling = spec?.updateStrategy?.rollingUpdate;
  const maxSurge = isSurgeEnabled ? scaledValue(rolling?.maxSurge ?? 0, nodeCount, 'up') : 0;
  const share = scaledValue(rolling?.maxUnavailable ?? 1, nodeCount, 'up');
  const maxUnavailable = maxSurge === 0 && share === 0 ? 1 : share;
  return { maxSurge, maxUnavailable };
}
