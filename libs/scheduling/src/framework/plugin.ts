/**
 * What a scheduling plugin is: a function that looks at the pod and the cluster once and returns a
 * function that is asked about each node. It returns nothing when it has nothing to say about the pod,
 * which then costs nothing per node. All of it is pure: no clock, no randomness, no I/O.
 */
import type { ClusterView } from '../cache/cluster-cache.js';
import type { NodeInfo } from '../model/node-info.js';
import type { NamespaceLabels, PodInfo, SpreadConstraint } from '../model/pod-info.js';

/** Everything around the pod that a decision may depend on. */
export interface CycleContext {
  readonly cluster: ClusterView;
  readonly namespaceLabels: NamespaceLabels;
  /** Constraints for pods that bring none of their own: spread over nodes and zones by owner. */
  readonly defaultSpread: (pod: PodInfo) => readonly SpreadConstraint[];
  /** Weight of other pods' required affinity when a node is scored for a pod they select. */
  readonly hardPodAffinityWeight: number;
}

/** Why a node cannot take the pod, as shown to people; undefined when it can. */
export type NodeFilter = (node: NodeInfo) => readonly string[] | undefined;

export interface FilterPlugin {
  readonly name: string;
  readonly prepare: (pod: PodInfo, context: CycleContext) => NodeFilter | undefined;
}

/** The best score of a node after normalising; the worst is 0. */
export const scoreMax = 100;

export interface NodeScorer {
  /** Any finite number when there is `normalise`, otherwise between 0 and `scoreMax`. */
  readonly score: (node: NodeInfo) => number;
  /** Brings the scores of all feasible nodes, in their order, to between 0 and `scoreMax`, in place. */
  readonly normalise?: (scores: Float64Array) => void;
}

export interface ScorePlugin {
  readonly name: string;
  readonly weight: number;
  readonly prepare: (
    pod: PodInfo,
    context: CycleContext,
    feasible: readonly NodeInfo[],
  ) => NodeScorer | undefined;
}

/** Scales scores so that the highest becomes `scoreMax`; `reversed`: the lowest is the best. */
export function scaleToMax(scores: Float64Array, reversed = false): void {
  let highest = 0;
  for (const score of scores) highest = Math.max(highest, score);
  if (highest === 0) {
    if (reversed) scores.fill(scoreMax);
    return;
  }
  for (let index = 0; index < scores.length; index++) {
    const scaled = Math.trunc((scores[index]! * scoreMax) / highest);
    scores[index] = reversed ? scoreMax - scaled : scaled;
  }
}
