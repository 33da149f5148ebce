/**
 * The latest decisions that placed a pod, for explanations. A decision refers to what its cycle has
 * computed anyway, without the nodes, so that it keeps no snapshot alive.
 */
import { LRUCache } from 'lru-cache';
import type { NamedRejection } from '../framework/plugin.js';
import type { NodeScores } from '../framework/scoring.js';
import { decisionCountMax, decisionNodeCountMax } from '../limits.js';

export interface Decision {
  readonly uid: string;
  readonly node: string;
  /** Wall clock. */
  readonly decidedAtMs: number;
  /** Nodes of the cluster, of which the search may have examined a part. */
  readonly nodeCount: number;
  readonly rejections: ReadonlyMap<string, NamedRejection>;
  readonly feasible: readonly string[];
  /** Undefined if only one node was feasible, which is chosen without scores. */
  readonly scores: NodeScores | undefined;
  /** What extenders added to the scores, by node. */
  readonly added: ReadonlyMap<string, number> | undefined;
}

export class Decisions {
  /** By pod key. */
  private readonly latest = new LRUCache<string, Decision>({
    max: decisionCountMax,
    maxSize: decisionNodeCountMax,
    sizeCalculation: ({ rejections, feasible }) => 1 + rejections.size + feasible.length,
  });

  get count(): number {
    return this.latest.size;
  }

  record(key: string, decision: Decision): void {
    this.latest.set(key, decision);
  }

  /** Returns the decision about the pod with this key and uid, if it is still kept. */
  find(key: string, uid: string): Decision | undefined {
    const decision = this.latest.peek(key);
    return decision?.uid === uid ? decision : undefined;
  }
}
