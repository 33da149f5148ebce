/**
 * What disruption budgets say to the eviction of a pod: which of them cover it, and whether one more
 * disruption is allowed. A disruption that is granted is written into the budget's status, where it counts
 * until the budget's controller has seen the pod go.
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

/** Disruptions that a budget's controller has not confirmed yet; beyond it nobody is controlling it. */
const disruptedPodsMax = 2_000;
const disruptionAllowed = 'DisruptionAllowed';
const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";
/** How long a controller may take to look at a budget. */
const processingSeconds = 10;

/** Pods that do no work, not yet or not any more, go whatever the budgets say. */
export function isBeyondBudgets(pod: Pod): boolean {
  return pod.status?.phase === 'Pending' || isEnding(pod);
}

/** It will not come to work while it is being evicted. */
export function isEnding({ metadata, status }: Pod): boolean {
  const phase = status?.phase;
  return phase === 'Succeeded' || phase === 'Failed' || metadata?.deletionTimestamp !== undefined;
}

/**
 * `version`: the one the budget is in, as an empty selector covers every pod in `v1` and none in `v1beta1`.
 * A selector that cannot be read covers nothing.
 */
export function covers(budget: PodDisruptionBudget, version: string, pod: Pod): boolean {
  try {
    const selector = labelSelectorFromObject(budget.spec?.selector);
    if (selector.everything && version === 'v1beta1') return false;
    return selector.matches(pod.metadata?.labels);
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** The pod is not counted as healthy, and enough others are: its end disrupts nothing. */
export function isSpare({ status }: PodDisruptionBudget, pod: Pod): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  const isReady = isConditionTrue(pod.status?.conditions, 'Ready');
  return !isReady && desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/** The budget's controller has to look at it first. */
export function stillProcessed({ metadata }: PodDisruptionBudget): StatusError {
  const message = `The disruption budget ${metadata?.name} is still being processed by the server.`;
  return tooManyRequests(refusal, processingSeconds, [{ reason: 'DisruptionBudget', message }]);
}

/** Takes one disruption out of `budget`, which the caller has to itself. Throws StatusError (403, 429). */
export function takeDisruption(budget: PodDisruptionBudget, podName: string, now: string): void {
  const { name = '', generation = 0 } = budget.metadata ?? {};
  const { status } = budget;
  if (!status || (status.observedGeneration ?? 0) < generation) throw stillProcessed(budget);
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
