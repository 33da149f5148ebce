/** How far a rollout may stray from the wanted number of pods. Pure. */
import { scaledValue } from '@orch/apimachinery';
import type { Deployment } from '@orch/types/apps/v1';

export interface Bounds {
  /** Pods above the wanted number. */
  readonly maxSurge: number;
  /** Pods below it that may be unavailable. */
  readonly maxUnavailable: number;
}

export function wantedReplicas(deployment: Deployment): number {
  return deployment.spec?.replicas ?? 1;
}

export function isRolling(deployment: Deployment): boolean {
  return deployment.spec?.strategy?.type !== 'Recreate';
}

/** Shares are rounded up for the surge and down for what may be missing; one of them is never 0. */
export function boundsOf(deployment: Deployment): Bounds {
  if (!isRolling(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const wanted = wantedReplicas(deployment);
  const rolling = deployment.spec?.strategy?.rollingUpdate;
  const maxSurge = scaledValue(rolling?.maxSurge ?? '25%', wanted, 'up');
  const share = scaledValue(rolling?.maxUnavailable ?? '25%', wanted, 'down');
  const maxUnavailable = maxSurge === 0 && share === 0 ? 1 : share;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, wanted) };
}
