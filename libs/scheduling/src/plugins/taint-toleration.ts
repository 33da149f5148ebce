/** Taints: `NoSchedule` and `NoExecute` reject a node, `PreferNoSchedule` lowers its score. */
import { firstUntoleratedTaint, tolerates, toleratesTaint } from '@orch/apimachinery';
import type { Taint } from '@orch/types/core/v1';
import {
  finalRejection,
  localFilter,
  type Plugin,
  scaleToMax,
  scoreEach,
} from '../framework/plugin.js';
import { nodeHas } from '../framework/remedy.js';
import type { NodeInfo } from '../model/node-info.js';

const repellingEffects = ['NoSchedule', 'NoExecute'];

export const taintToleration: Plugin = {
  name: 'TaintToleration',
  retryOn: ['node added', 'node changed'],
  ...localFilter((pod) => {
    return (node) => {
      if (node.taints.length === 0) return undefined;
      const taint = firstUntoleratedTaint(node.taints, pod.tolerations, repellingEffects);
      if (!taint) return undefined;
      return finalRejection(
        `node(s) had taint {${taint.key}: ${taint.value ?? ''}}, that the pod didn't tolerate`,
      );
    };
  }),
  remedies: ({ pod }, node) =>
    node.taints
      .filter(({ effect }) => repellingEffects.includes(effect))
      .filter((taint) => !tolerates(pod.tolerations, taint))
      .map(({ key, value, effect }) => {
        const text = `${key}${value ? `=${value}` : ''}:${effect}`;
        return nodeHas(`taint ${text} which the pod does not tolerate`);
      }),
  // The tolerations of a pod are part of its `PodInfo`.
  preScore: () => undefined,
  /** Scores nodes higher, the fewer untolerated `PreferNoSchedule` taints they have. */
  score({ pod }, feasible) {
    // Without such taints all nodes have the same score.
    if (!hasSoftTaints(feasible)) return undefined;
    const tolerations = pod.tolerations.filter(
      (toleration) => !toleration.effect || toleration.effect === 'PreferNoSchedule',
    );
    const isUntolerated = (taint: Taint) =>
      isSoft(taint) && !tolerations.some((toleration) => toleratesTaint(toleration, taint));
    const scores = scoreEach(feasible, ({ taints }) => taints.filter(isUntolerated).length);
    return scaleToMax(scores, true);
  },
};

function hasSoftTaints(nodes: readonly NodeInfo[]): boolean {
  for (const { taints } of nodes) {
    if (taints.length > 0 && taints.some(isSoft)) return true;
  }
  return false;
}

function isSoft({ effect }: Taint): boolean {
  return effect === 'PreferNoSchedule';
}
