/**
 * Selects the pods to evict from one node: all pods of lower priority are removed in a simulation,
 * then returned one after the other while the pod still fits, those under an exhausted budget
 * first, then the most important ones.
 */
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import type { Cycle } from '../../framework/cycle.js';
import type { Candidate, PostFilterInput } from '../../framework/plugin.js';
import type { NodeInfo } from '../../model/node-info.js';
import type { PodInfo } from '../../model/pod-info.js';
import { labelPredicate } from '../../model/selectors.js';

/** Returns undefined if evictions from the node do not make the pod fit. */
export function selectVictims(
  original: Cycle,
  node: NodeInfo,
  budgets: readonly PodDisruptionBudget[],
  { simulate, move }: PostFilterInput,
): Candidate | undefined {
  const lower = [...node.pods.values()].filter((pod) => pod.priority < original.pod.priority);
  if (lower.length === 0) return undefined;
  const [cycle, simulated] = [original.clone(), node.clone()];
  for (const pod of lower) move(cycle, simulated, pod, -1);
  if (simulate(cycle, simulated)) return undefined;
  const { violating, others } = byBudgets(lower.sort(byImportance), budgets);
  const isVictim = (pod: PodInfo) => {
    move(cycle, simulated, pod, 1);
    if (!simulate(cycle, simulated)) return false;
    move(cycle, simulated, pod, -1);
    return true;
  };
  const violations = violating.filter(isVictim);
  const victims = [...violations, ...others.filter(isVictim)];
  if (victims.length === 0) return undefined;
  return { node: node.name, victims, violationCount: violations.length };
}

/** Higher priority first, then the earlier start; pods that have not started are last. */
function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b) || 0;
}

export function startOf(pod: PodInfo): number {
  return pod.startMs ?? Number.MAX_SAFE_INTEGER;
}

/** Splits pods, in their order, by whether their eviction would violate a budget. */
function byBudgets(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]) {
  const remaining = budgets.map((budget) => ({
    budget,
    namespace: budget.metadata?.namespace,
    matches: labelPredicate(budget.spec?.selector),
    selectsAll: isEmptySelector(budget),
    allowedCount: budget.status?.disruptionsAllowed ?? 0,
  }));
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let isViolating = false;
    for (const entry of remaining) {
      if (entry.namespace !== pod.namespace || Object.keys(pod.labels).length === 0) continue;
      if (entry.selectsAll || !entry.matches(pod.labels)) continue;
      // The server has counted the eviction of this pod.
      if (entry.budget.status?.disruptedPods?.[pod.name] !== undefined) continue;
      entry.allowedCount--;
      if (entry.allowedCount < 0) isViolating = true;
    }
    (isViolating ? violating : others).push(pod);
  }
  return { violating, others };
}

/** The reference scheduler does not apply budgets with an empty selector. */
function isEmptySelector({ spec }: PodDisruptionBudget): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.selector ?? {};
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}
