/** Taints: `NoSchedule` and `NoExecute` reject a node, `PreferNoSchedule` lowers its score. */
import { firstUntoleratedTaint, tolerates, toleratesTaint } from '@orch/apimachinery';
import { finalRejection, localFilter, type Plugin, scaleToMax } from '../framework/plugin.js';
import { nodeHas } from '../framework/remedy.js';

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
    const hasSoftTaints = feasible.some(({ taints }) =>
      taints.some(({ effect }) => effect === 'PreferNoSchedule'),
    );
    // Without such taints all nodes have the same score.
    if (!hasSoftTaints) return undefined;
    const tolerations = pod.tolerations.filter(
      (toleration) => !toleration.effect || toleration.effect === 'PreferNoSchedule',
    );
    return {
      score: (node) =>
        node.taints.filter(
          (taint) =>
            taint.effect === 'PreferNoSchedule' &&
            !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
        ).length,
      normalise: (scores) => scaleToMax(scores, true),
    };
  },
};
