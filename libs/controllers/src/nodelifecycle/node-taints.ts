/** The taints that a node's conditions call for. Pure. Taints of other origin are left alone. */
import { conditionOf, formatTime } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Node, Taint } from '@orch/types/core/v1';
import { readinessOf } from './node-conditions.js';

const key = (name: string) => dialect().key(name, 'node');
const notReadyKey = () => key('not-ready');
const unreachableKey = () => key('unreachable');

/** Keys of the NoSchedule taints that are ours, and whether the node should have them. */
function noScheduleKeys(node: Node): ReadonlyMap<string, boolean> {
  const has = (type: string) => conditionOf(node.status?.conditions, type)?.status === 'True';
  const readiness = readinessOf(node);
  return new Map([
    [notReadyKey(), readiness === 'False' || readiness === 'None'],
    [unreachableKey(), readiness === 'Unknown'],
    [key('memory-pressure'), has('MemoryPressure')],
    [key('disk-pressure'), has('DiskPressure')],
    [key('pid-pressure'), has('PIDPressure')],
    [key('network-unavailable'), has('NetworkUnavailable')],
    [key('unschedulable'), Boolean(node.spec?.unschedulable)],
  ]);
}

/** The taints of the node with corrected NoSchedule taints; undefined if they are correct. */
export function withNoScheduleTaints(node: Node, nowMs: number): Taint[] | undefined {
  const wanted = noScheduleKeys(node);
  const taints = node.spec?.taints ?? [];
  const kept = taints.filter(
    (taint) => taint.effect !== 'NoSchedule' || wanted.get(taint.key ?? '') !== false,
  );
  const present = new Set(
    kept.filter((taint) => taint.effect === 'NoSchedule').map((taint) => taint.key),
  );
  const added = [...wanted]
    .filter(([name, isWanted]) => isWanted && !present.has(name))
    .map(([name]): Taint => ({ key: name, effect: 'NoSchedule', timeAdded: formatTime(nowMs) }));
  if (added.length === 0 && kept.length === taints.length) return undefined;
  return [...kept, ...added];
}

/** The key of the NoExecute taint that the node's readiness calls for. */
export function noExecuteKey(node: Node): string | undefined {
  switch (readinessOf(node)) {
    case 'True':
    case 'None':
      return undefined;
    case 'False':
      return notReadyKey();
    case 'Unknown':
      return unreachableKey();
  }
}

export function hasNoExecuteTaint(node: Node): boolean {
  return (node.spec?.taints ?? []).some(isOurs);
}

/** The node's taints with `wanted` as our only NoExecute one; undefined when that is so. */
export function withNoExecuteTaint(
  node: Node,
  wanted: string | undefined,
  nowMs: number,
): Taint[] | undefined {
  const taints = node.spec?.taints ?? [];
  const kept = taints.filter((taint) => !isOurs(taint) || taint.key === wanted);
  const isThere = kept.some((taint) => isOurs(taint));
  if (isThere || wanted === undefined) return kept.length === taints.length ? undefined : kept;
  return [...kept, { key: wanted, effect: 'NoExecute', timeAdded: formatTime(nowMs) }];
}

function isOurs(taint: Taint): boolean {
  const isKey = taint.key === notReadyKey() || taint.key === unreachableKey();
  return isKey && taint.effect === 'NoExecute';
}
