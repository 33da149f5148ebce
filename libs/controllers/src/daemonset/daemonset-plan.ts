/**
 * Plans the pods of a daemon set: `planPods` gives each node its pod and removes surplus ones,
 * `planUpdate` replaces pods of an old template within the bounds of the strategy. Pure.
 */
import type { Pod } from '@orch/types/core/v1';
import { isPodAvailable, isPodReady } from '../common/pods.js';
import { olderFirst } from './daemon-pod.js';
import type { NodeFit } from './node-fit.js';

/** A node with the pods of the set that run on it or are for it. */
export interface DaemonNode extends NodeFit {
  readonly name: string;
  /** False if only pods name it: the node object does not exist. */
  readonly exists: boolean;
  readonly pods: readonly Pod[];
}

export interface DaemonState {
  readonly nodes: readonly DaemonNode[];
  readonly isUpdated: (pod: Pod) => boolean;
  /** Whether a node may have an old and a new pod during an update. */
  readonly isSurging: boolean;
  readonly minReadySeconds: number;
  readonly nowMs: number;
  /** How long a failed pod of this node stays before it is replaced; 0: it is replaced now. */
  readonly failureDelayMs: (nodeName: string) => number;
}

export interface DaemonPlan {
  /** Names of the nodes to create a pod for. */
  readonly creations: readonly string[];
  readonly deletions: readonly Pod[];
  /** The deletions of failed pods. */
  readonly failed: readonly { readonly nodeName: string; readonly pod: Pod }[];
  /** When a failed pod may be replaced. */
  readonly requeueAfterMs?: number;
}

export interface UpdateBounds {
  /** Nodes that may lack an available pod. */
  readonly maxUnavailable: number;
  /** Nodes that may have two pods. */
  readonly maxSurge: number;
}

export function planPods(state: DaemonState): DaemonPlan {
  const creations: string[] = [];
  const deletions: Pod[] = [];
  const failed: { nodeName: string; pod: Pod }[] = [];
  let requeueAfterMs: number | undefined;
  for (const node of state.nodes) {
    const staying = node.pods.filter((pod) => !pod.metadata?.deletionTimestamp);
    if (!node.exists) deletions.push(...staying.filter(({ spec }) => !spec?.nodeName));
    else if (!node.mayStay) deletions.push(...staying);
    else if (node.pods.length === 0) {
      if (node.shouldRun) creations.push(node.name);
    } else {
      const isFailed = (pod: Pod) => pod.status?.phase === 'Failed';
      for (const pod of staying.filter(isFailed)) {
        const delayMs = state.failureDelayMs(node.name);
        if (delayMs > 0) requeueAfterMs = Math.min(requeueAfterMs ?? delayMs, delayMs);
        else failed.push({ nodeName: node.name, pod });
      }
      const running = staying.filter((pod) => !isFailed(pod)).sort(olderFirst);
      deletions.push(...(state.isSurging ? surplusOfSurge(state, running) : running.slice(1)));
    }
  }
  deletions.push(...failed.map(({ pod }) => pod));
  return {
    creations,
    deletions,
    failed,
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  };
}

/** All but the oldest new and the oldest old pod; the old one too when the new one is available. */
function surplusOfSurge(state: DaemonState, running: readonly Pod[]): Pod[] {
  const updated = running.find(state.isUpdated);
  const old = running.find((pod) => !state.isUpdated(pod));
  const surplus = running.filter((pod) => pod !== updated && pod !== old);
  const isReplaced = updated && old && (!isPodReady(old) || isAvailable(state, updated));
  return isReplaced ? [...surplus, old] : surplus;
}

export function planUpdate(state: DaemonState, bounds: UpdateBounds): DaemonPlan {
  const concerned = state.nodes.filter(
    ({ exists, shouldRun, pods }) => exists && (shouldRun || pods.length > 0),
  );
  return bounds.maxSurge > 0
    ? planSurge(state, concerned, bounds.maxSurge)
    : planReplacement(state, concerned, bounds.maxUnavailable);
}

/**
 * Deletes old pods; `planPods` creates new ones. Old pods that are not available are deleted in any
 * case, others while fewer than `maxUnavailable` nodes lack an available pod. Nodes that keep a pod
 * without being wanted any more do not count.
 */
function planReplacement(
  state: DaemonState,
  nodes: readonly DaemonNode[],
  maxUnavailable: number,
): DaemonPlan {
  const unavailable: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailableCount = 0;
  for (const node of nodes) {
    const { updated, old } = podPair(state, node) ?? {};
    const isLacking = updated ? !isAvailable(state, updated) : !old;
    if (!node.shouldRun) candidates.push(...(old ? [old] : []));
    else if (isLacking || (updated && old)) unavailableCount += 1;
    else if (old) (isAvailable(state, old) ? candidates : unavailable).push(old);
  }
  const allowed = Math.max(0, maxUnavailable - unavailableCount - unavailable.length);
  return updatePlan([], [...unavailable, ...candidates.slice(0, allowed)]);
}

/**
 * Creates new pods beside old ones; `planPods` deletes an old one when its new one is available.
 */
function planSurge(state: DaemonState, nodes: readonly DaemonNode[], maxSurge: number): DaemonPlan {
  const withoutAvailable: string[] = [];
  const candidates: string[] = [];
  const deletions: Pod[] = [];
  let surgeCount = 0;
  for (const node of nodes) {
    const pair = podPair(state, node);
    if (!pair) surgeCount += 1;
    else if (pair.old && pair.updated) {
      if (isAvailable(state, pair.updated)) deletions.push(pair.old);
      else surgeCount += 1;
    } else if (pair.old && node.shouldRun) {
      (isAvailable(state, pair.old) ? candidates : withoutAvailable).push(node.name);
    } else if (pair.old) deletions.push(pair.old);
  }
  const allowed = Math.max(0, maxSurge - surgeCount);
  return updatePlan([...withoutAvailable, ...candidates.slice(0, allowed)], deletions);
}

function updatePlan(creations: readonly string[], deletions: readonly Pod[]): DaemonPlan {
  return { creations, deletions, failed: [] };
}

/** The new and the old pod of a node; undefined while it has several of a kind. */
function podPair(
  state: DaemonState,
  { pods }: DaemonNode,
): { updated: Pod | undefined; old: Pod | undefined } | undefined {
  const staying = pods.filter((pod) => !pod.metadata?.deletionTimestamp);
  const updated = staying.filter(state.isUpdated);
  const old = staying.filter((pod) => !state.isUpdated(pod));
  if (updated.length > 1 || old.length > 1) return undefined;
  return { updated: updated[0], old: old[0] };
}

function isAvailable({ minReadySeconds, nowMs }: DaemonState, pod: Pod): boolean {
  return isPodAvailable(pod, minReadySeconds, nowMs);
}
