/**
 * What one sync of a deployment does to its replica sets. Pure. Paused and scaled deployments are
 * only resized; otherwise the strategy says what the next step is, which includes making a replica
 * set for a new template.
 */
import type { ReplicaSet } from '@orch/types/apps/v1';
import type { Pod } from '@orch/types/core/v1';
import { isRolling } from './bounds.js';
import { expiredReplicaSets } from './history.js';
import { changedReplicaSets, newReplicaSet } from './new-replica-set.js';
import { recreateStep } from './recreate.js';
import { rollingStep } from './rolling-update.js';
import type { Resize, Rollout } from './rollout.js';
import { isScalingEvent, scalingStep } from './scaling.js';
import { isComplete } from './status.js';

export interface RolloutPlan {
  /** To be made; nothing else is done in the same sync. */
  readonly create?: ReplicaSet;
  /** To be written. */
  readonly changes: readonly ReplicaSet[];
  /** To be deleted. */
  readonly expired: readonly ReplicaSet[];
  /** Whether the status reports the progress of the rollout afterwards. */
  readonly isRollout: boolean;
}

/** @param podsOf the pods that a replica set controls. */
export function planRollout(
  rollout: Rollout,
  podsOf: (replicaSet: ReplicaSet) => readonly Pod[],
): RolloutPlan {
  const { deployment } = rollout;
  const isPaused = Boolean(deployment.spec?.paused);
  if (isPaused || isScalingEvent(rollout)) {
    const changes = changedReplicaSets(rollout, scalingStep(rollout));
    return { changes, expired: isPaused ? expiredReplicaSets(rollout) : [], isRollout: false };
  }
  if (isRolling(deployment)) {
    if (!rollout.current) return creation(rollout);
    return step(rollout, rollingStep(rollout));
  }
  const { resizes, mayCreate } = recreateStep(rollout, rollout.old.flatMap(podsOf));
  if (!rollout.current && mayCreate) return creation(rollout);
  return step(rollout, resizes);
}

function creation(rollout: Rollout): RolloutPlan {
  return { create: newReplicaSet(rollout), changes: [], expired: [], isRollout: true };
}

function step(rollout: Rollout, resizes: readonly Resize[]): RolloutPlan {
  const isDone = resizes.length === 0 && isComplete(rollout.deployment, rollout.deployment.status);
  return {
    changes: changedReplicaSets(rollout, resizes),
    expired: isDone ? expiredReplicaSets(rollout) : [],
    isRollout: true,
  };
}
