/**
 * Checks an eviction against disruption budgets: which of them cover the pod, and whether one more
 * disruption is allowed. An allowed disruption is recorded in the budget's status, where it counts
 * until the budget's controller has observed the deletion.
 */
import {
  conditionOf,
  forbiddenObject,
  isConditionTrue,
  labelSelectorFromObject,
  SelectorError,
  type StatusError,
  tooManyRequests,
} from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';

/**
 * Maximum number of disruptions that the budget's controller has not confirmed. Higher: a broken
 * controller is noticed later. Lower: large evictions are rejected.
 */
const disruptedPodsMax = 2_000;
const disruptionAllowed = 'DisruptionAllowed';
const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";
/** How long a controller may take to process a budget. */
const processingSeconds = 10;

/** Pods that are pending or have terminated can be evicted regardless of budgets. */
export function isExemptFromBudgets(pod: Pod): boolean {
  return pod.status?.phase === 'Pending' || isTerminating(pod);
}

/** The pod has terminated or is being deleted. */
export function isTerminating({ metadata, status }: Pod): boolean {
  const phase = status?.phase;
  return phase === 'Succeeded' || phase === 'Failed' || metadata?.deletionTimestamp !== undefined;
}

/**
 * `version`: the version of the budget, because an empty selector covers every pod in `v1` and none
 * in `v1beta1`. An invalid selector covers nothing.
 */
export function coversPod(budget: PodDisruptionBudget, version: string, pod: Pod): boolean {
  try {
    const selector = labelSelectorFromObject(budget.spec?.selector);
    if (selector.everything && version === 'v1beta1') return false;
    return selector.matches(pod.metadata?.labels);
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** The pod is not ready, and enough other pods are healthy: evicting it disrupts nothing. */
export function isUnreadyAndUnneeded({ status }: PodDisruptionBudget, pod: Pod): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  const isReady = isConditionTrue(pod.status?.conditions, 'Ready');
  return !isReady && desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/** The budget's controller has not processed the current generation. */
export function budgetNotProcessed({ metadata }: PodDisruptionBudget): StatusError {
  const message = `The disruption budget ${metadata?.name} is still being processed by the server.`;
  return tooManyRequests(refusal, processingSeconds, [{ reason: 'DisruptionBudget', message }]);
}

/**
 * Records one disruption in `budget`, which the caller must own exclusively. Throws StatusError
 * (403, 429).
 */
export function consumeDisruption(budget: PodDisruptionBudget, podName: string, now: string): void {
  const { name = '', generation = 0 } = budget.metadata ?? {};
  const { status } = budget;
  if (!status || (status.observedGeneration ?? 0) < generation) throw budgetNotProcessed(budget);
  const forbid = (cause: string) =>
    forbiddenObject({ group: 'policy', resource: 'poddisruptionbudget' }, name, cause);
  if (status.disruptionsAllowed < 0) throw forbid('pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > disruptedPodsMax) {
    throw forbid('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (status.disruptionsAllowed === 0) {
    const message = `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`;
    throw tooManyRequests(refusal, undefined, [{ reason: 'DisruptionBudget', message }]);
  }
  status.disruptionsAllowed -= 1;
  status.disruptedPods = { ...status.disruptedPods, [podName]: now };
  if (status.disruptionsAllowed === 0) setExhausted(status, now);
}

function setExhausted(status: NonNullable<PodDisruptionBudget['status']>, now: string): void {
  const { conditions = [], observedGeneration = 0 } = status;
  const old = conditionOf(conditions, disruptionAllowed);
  const condition = {
    type: disruptionAllowed,
    status: 'False',
    observedGeneration,
    lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  };
  status.conditions = old
    ? conditions.map((other) => (other === old ? condition : other))
    : [...conditions, condition];
}
