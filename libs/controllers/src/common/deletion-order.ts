/**
 * The order in which surplus pods are deleted. Pure. First: not assigned, not running, not ready,
 * lower deletion cost, more siblings on the node, ready for less time, more restarts, younger.
 * Deletion costs and the rounding of ages depend on feature gates.
 */

import { parseTime } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import { createdMs } from './created.js';
import { isPodActive, isPodReady, readyCondition, restartCountMax } from './pods.js';

const phaseOrder: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

export interface DeletionRules {
  readonly byCost: boolean;
  /** Times of one power of two are alike: chance, in the shape of the uid, decides between them. */
  readonly byLogarithmicAge: boolean;
  readonly nowMs: number;
}

/**
 * @param related pods of all replica sets under the same owner: they count when siblings on a node
 *   do.
 * @returns `count` of `pods`.
 */
export function podsToDelete(
  pods: readonly Pod[],
  related: readonly Pod[],
  count: number,
  rules: DeletionRules,
): Pod[] {
  if (count >= pods.length) return [...pods];
  return inDeletionOrder(pods, related, rules).slice(0, count);
}

/** All of `pods`, the first to delete first. */
export function inDeletionOrder(
  pods: readonly Pod[],
  related: readonly Pod[],
  rules: DeletionRules,
): Pod[] {
  const siblings = new Map<string, number>();
  for (const pod of related) {
    const node = pod.spec?.nodeName;
    if (node && isPodActive(pod)) siblings.set(node, (siblings.get(node) ?? 0) + 1);
  }
  return [...pods].sort((a, b) => compare(a, b, siblings, rules));
}

/** Negative when `a` goes before `b`. */
function compare(
  a: Pod,
  b: Pod,
  siblings: ReadonlyMap<string, number>,
  rules: DeletionRules,
): number {
  return (
    Number(Boolean(a.spec?.nodeName)) - Number(Boolean(b.spec?.nodeName)) ||
    (phaseOrder[a.status?.phase ?? ''] ?? 0) - (phaseOrder[b.status?.phase ?? ''] ?? 0) ||
    Number(isPodReady(a)) - Number(isPodReady(b)) ||
    (rules.byCost ? deletionCost(a) - deletionCost(b) : 0) ||
    siblingCount(b, siblings) - siblingCount(a, siblings) ||
    compareTimes([a, readySince(a)], [b, readySince(b)], rules) ||
    restartCountMax(b) - restartCountMax(a) ||
    compareTimes([a, createdMs(a)], [b, createdMs(b)], rules)
  );
}

/** The later goes first. */
function compareTimes(
  [a, aMs]: readonly [Pod, number],
  [b, bMs]: readonly [Pod, number],
  { byLogarithmicAge, nowMs }: DeletionRules,
): number {
  if (aMs === bMs || !byLogarithmicAge) return bMs - aMs;
  const difference = ageRank(nowMs - aMs) - ageRank(nowMs - bMs);
  return difference || ((a.metadata?.uid ?? '') < (b.metadata?.uid ?? '') ? -1 : 1);
}

/** Powers of two of a nanosecond, as other controllers of this interface count. */
function ageRank(ageMs: number): number {
  return ageMs > 0 ? Math.floor(Math.log2(ageMs * 1_000_000)) : -1;
}

function deletionCost(pod: Pod): number {
  const text = pod.metadata?.annotations?.[dialect().key('pod-deletion-cost', 'controller')];
  return text !== undefined && /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : 0;
}

function siblingCount(pod: Pod, siblings: ReadonlyMap<string, number>): number {
  return siblings.get(pod.spec?.nodeName ?? '') ?? 0;
}

function readySince(pod: Pod): number {
  if (!isPodReady(pod)) return 0;
  return parseTime(readyCondition(pod)?.lastTransitionTime) ?? 0;
}
