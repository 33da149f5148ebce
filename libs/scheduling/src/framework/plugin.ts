/**
 * The extension points of a scheduling cycle. A plugin implements some of them as pure functions of
 * the cycle: no clock, no randomness of its own, no I/O. `filter` and `score` are called once in a
 * cycle: `filter` returns the function for each node, `score` the scores of all feasible nodes.
 * They return undefined if the plugin does not apply to the pod, which then costs nothing per node.
 * The binding of a pod, which needs I/O, has extension points of its own: `BindingPlugin` in the
 * shell.
 */
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';
import type { ClusterEvent } from './cluster-event.js';
import type { Cycle } from './cycle.js';
import type { Remedy } from './remedy.js';

/** Why a node, or every node, is not feasible. */
export interface Rejection {
  /** For users. */
  readonly reasons: readonly string[];
  /** Whether the removal of pods from the node cannot help. */
  readonly isFinal: boolean;
}

/** A rejection with the plugin, or the extender, that decided it. */
export interface NamedRejection extends Rejection {
  readonly plugin: string;
}

/** Returns a rejection that the removal of pods from the node may resolve. */
export function rejection(...reasons: string[]): Rejection {
  return { reasons, isFinal: false };
}

/** Returns a rejection that the removal of pods from the node cannot resolve. */
export function finalRejection(...reasons: string[]): Rejection {
  return { reasons, isFinal: true };
}

/** Returns why the node is not feasible; undefined if it is. */
export type NodeFilter = (node: NodeInfo) => Rejection | undefined;

/** The best normalised score of a node; the worst is 0. */
export const scoreMax = 100;

/** A node on which the pod fits after the eviction of `victims`. */
export interface Candidate {
  readonly node: string;
  /** Never empty. Victims whose eviction violates a budget are first. */
  readonly victims: readonly PodInfo[];
  readonly violationCount: number;
}

export interface PostFilterResult {
  readonly candidates: readonly Candidate[];
  /** Whether an earlier nomination of the pod cannot be used any more. */
  readonly clearsNomination: boolean;
}

/** Runs the filters of the profile on a node, as in a cycle. */
export type Simulation = (cycle: Cycle, node: NodeInfo) => Rejection | undefined;

export interface PostFilterInput {
  /** The rejections by node name. */
  readonly rejections: ReadonlyMap<string, Rejection>;
  readonly simulate: Simulation;
  /** Applies a pod that is added to a node (1) or removed from it (-1) to node and cycle. */
  readonly move: (cycle: Cycle, node: NodeInfo, pod: PodInfo, sign: 1 | -1) => void;
}

/** Allows the binding, rejects it, or lets it wait for at most `waitMs`. */
export type Permission = 'allow' | Rejection | { readonly waitMs: number };

/** The order of two waiting pods. */
export interface QueueOrder {
  readonly info: PodInfo;
  /** Order of arrival. */
  readonly arrival: number;
}

export interface Plugin {
  readonly name: string;
  /** Changes after which a pod that this plugin rejected may fit. Absent: all. */
  readonly retryOn?: readonly ClusterEvent[];
  /** Whether `a` is scheduled before `b`. */
  readonly queueSort?: (a: QueueOrder, b: QueueOrder) => boolean;
  /** Rejects the pod on all nodes, or prepares the filter. */
  readonly preFilter?: (cycle: Cycle) => Rejection | undefined;
  readonly filter?: (cycle: Cycle) => NodeFilter | undefined;
  /** The same as `filter`, if that depends on nothing but the pod and the node. */
  readonly precheck?: (pod: PodInfo) => NodeFilter | undefined;
  /**
   * Returns what would have to change so that `filter` no longer rejects the node. Called for
   * explanations only. Absent: the reasons of the rejection describe it.
   */
  readonly remedies?: (cycle: Cycle, node: NodeInfo) => readonly Remedy[];
  /** Applies a pod that is added to `node` (1) or removed from it (-1) to the state of `cycle`. */
  readonly movePod?: (cycle: Cycle, node: NodeInfo, pod: PodInfo, sign: 1 | -1) => void;
  /** Makes room for a pod that fits on no node. */
  readonly postFilter?: (cycle: Cycle, input: PostFilterInput) => PostFilterResult;
  /** Prepares the scores. */
  readonly preScore?: (cycle: Cycle, feasible: readonly NodeInfo[]) => void;
  /** Returns scores between 0 and `scoreMax`, in the order of the feasible nodes. */
  readonly score?: (cycle: Cycle, feasible: readonly NodeInfo[]) => Float64Array | undefined;
  /** Reserves what the pod needs on the node. */
  readonly reserve?: (cycle: Cycle, node: NodeInfo) => Rejection | undefined;
  /** Releases the reservation; also called if `reserve` has rejected. */
  readonly unreserve?: (cycle: Cycle, node: string) => void;
  readonly permit?: (cycle: Cycle, node: NodeInfo) => Permission;
}

/** Returns the members of a plugin whose filter depends on nothing but the pod and the node. */
export function localFilter(precheck: NonNullable<Plugin['precheck']>) {
  return { precheck, filter: ({ pod }: Cycle) => precheck(pod) };
}

/** Returns the scores of the nodes, in their order. */
export function scoreEach(
  nodes: readonly NodeInfo[],
  scoreOf: (node: NodeInfo) => number,
): Float64Array {
  const scores = new Float64Array(nodes.length);
  for (let index = 0; index < nodes.length; index++) scores[index] = scoreOf(nodes[index]!);
  return scores;
}

/**
 * Scales scores in place so that the highest becomes `scoreMax`; if `reversed`, the lowest is the
 * best. Returns `scores`.
 */
export function scaleToMax(scores: Float64Array, reversed = false): Float64Array {
  let highest = 0;
  for (const score of scores) highest = Math.max(highest, score);
  if (highest === 0) {
    return reversed ? scores.fill(scoreMax) : scores;
  }
  for (let index = 0; index < scores.length; index++) {
    const scaled = Math.trunc((scores[index]! * scoreMax) / highest);
    scores[index] = reversed ? scoreMax - scaled : scaled;
  }
  return scores;
}
