/**
 * The status of a disruption budget: healthy, expected and desired pods, and how many may be
 * disrupted. Pure: the budget, its pods, their wanted number and the time go in.
 *
 * Invariant: `disruptionsAllowed` healthy pods can be evicted without fewer than `desiredHealthy`
 * being healthy.
 */
import { conditionOf, deepEqual, formatTime, parseTime, scaledValue } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import type { Condition } from '@orch/types/meta/v1';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '@orch/types/policy/v1';
import { isPodReady } from '../common/pods.js';
import { limits } from '../limits.js';

/** Whether the budget counts the replicas that controllers want; otherwise it counts pods. */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string';
}

export interface ExpectedPods {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

/**
 * @param total wanted replicas if `needsScale`, else the number of matching pods. Throws RangeError
 *   for a text that is not a percentage.
 */
export function expectedPodsOf({ spec }: PodDisruptionBudget, total: number): ExpectedPods {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined) {
    const unavailable = scaledValue(maxUnavailable, total, 'up');
    return { expectedPods: total, desiredHealthy: Math.max(0, total - unavailable) };
  }
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 };
  return { expectedPods: total, desiredHealthy: scaledValue(minAvailable, total, 'up') };
}

export interface Disruptions {
  /** Evictions whose pods still exist, with their times. */
  readonly disruptedPods: Record<string, string>;
  /** Pods that were evicted and are not being deleted. */
  readonly overdue: readonly Pod[];
  /** When the next eviction is overdue. */
  readonly recheckMs: number | undefined;
}

/** An eviction counts until its pod is deleted, for at most two minutes. */
export function disruptionsOf(
  { status }: PodDisruptionBudget,
  pods: readonly Pod[],
  nowMs: number,
): Disruptions {
  const disruptedPods: Record<string, string> = {};
  const overdue: Pod[] = [];
  let recheckMs: number | undefined;
  for (const pod of pods) {
    const name = pod.metadata?.name ?? '';
    const time = status?.disruptedPods?.[name];
    if (time === undefined || pod.metadata?.deletionTimestamp) continue;
    const deadlineMs = (parseTime(time) ?? 0) + limits.evictedPodDeletionMsMax;
    if (deadlineMs < nowMs) overdue.push(pod);
    else {
      disruptedPods[name] = time;
      recheckMs = Math.min(recheckMs ?? deadlineMs, deadlineMs);
    }
  }
  return { disruptedPods, overdue, recheckMs };
}

export function budgetStatus(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  { expectedPods, desiredHealthy }: ExpectedPods,
  { disruptedPods }: Disruptions,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const currentHealthy = pods.filter(
    (pod) =>
      isPodReady(pod) &&
      !pod.metadata?.deletionTimestamp &&
      disruptedPods[pod.metadata?.name ?? ''] === undefined,
  ).length;
  const spare = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const observedGeneration = budget.metadata?.generation ?? 0;
  const condition = {
    status: spare > 0 ? 'True' : 'False',
    reason: spare > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration,
  };
  return {
    observedGeneration,
    ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
    disruptionsAllowed: spare,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: withDisruptionAllowed(budget, condition, nowMs),
  };
}

/** The status if the budget cannot be computed: nothing may be disrupted. */
export function failedStatus(
  budget: PodDisruptionBudget,
  message: string,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const { observedGeneration = 0 } = budget.status ?? {};
  const condition = { status: 'False', reason: 'SyncFailed', message, observedGeneration };
  return {
    ...{ currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...budget.status },
    disruptionsAllowed: 0,
    conditions: withDisruptionAllowed(budget, condition, nowMs),
  };
}

export function sameBudgetStatus(
  a: PodDisruptionBudgetStatus | undefined,
  b: PodDisruptionBudgetStatus,
): boolean {
  const plain = (status: PodDisruptionBudgetStatus) => {
    const { disruptedPods = {}, conditions = [], observedGeneration = 0, ...counts } = status;
    return { ...counts, disruptedPods, conditions, observedGeneration };
  };
  return a !== undefined && deepEqual(plain(a), plain(b));
}

type NewCondition = Pick<Condition, 'status' | 'reason' | 'message' | 'observedGeneration'>;

function withDisruptionAllowed(
  { status }: PodDisruptionBudget,
  change: NewCondition,
  nowMs: number,
): Condition[] {
  const type = 'DisruptionAllowed';
  const conditions = status?.conditions ?? [];
  const old = conditionOf(conditions, type);
  const lastTransitionTime =
    old?.status === change.status ? old.lastTransitionTime : formatTime(nowMs);
  const condition: Condition = { type, ...change, lastTransitionTime };
  if (!old) return [...conditions, condition];
  return conditions.map((other) => (other === old ? condition : other));
}
