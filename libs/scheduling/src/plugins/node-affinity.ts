/**
 * Node selector and node affinity of a pod, and an affinity that the profile adds for all its pods:
 * required terms reject nodes, preferred terms add their weights to the score.
 */
import {
  nodeSelectorPredicate,
  nodeTermPredicate,
  requiredNodesPredicate,
} from '@orch/apimachinery';
import type { NodeAffinity } from '@orch/types/core/v1';
import {
  finalRejection,
  localFilter,
  type Plugin,
  scaleToMax,
  scoreEach,
} from '../framework/plugin.js';
import { nodeHasNot, nodeIs, type Remedy } from '../framework/remedy.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';

export function nodeAffinity(addedAffinity?: NodeAffinity): Plugin {
  const added = addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const addedRequired = added && nodeSelectorPredicate(added);
  const addedPreferred = (addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
    (term) => ({ weight: term.weight, matches: nodeTermPredicate(term.preference) }),
  );
  const enforced = finalRejection("node(s) didn't match scheduler-enforced node affinity");
  const unmatched = finalRejection("node(s) didn't match Pod's node affinity/selector");
  return {
    name: 'NodeAffinity',
    retryOn: ['node added', 'node changed'],
    ...localFilter(({ requiredNodes }) => {
      if (!requiredNodes && !addedRequired) return undefined;
      return (node) => {
        if (addedRequired?.(node) === false) return enforced;
        return requiredNodes?.(node) === false ? unmatched : undefined;
      };
    }),
    remedies: ({ pod }, node) => [
      ...(addedRequired?.(node) === false
        ? [nodeIs('outside the node affinity that the profile of the scheduler adds')]
        : []),
      ...unmatchedRequirements(pod, node),
    ],
    // The terms of a pod are compiled with its `PodInfo`.
    preScore: () => undefined,
    score({ pod }, feasible) {
      const terms = [...addedPreferred, ...pod.preferredNodes];
      if (terms.length === 0) return undefined;
      const scores = scoreEach(feasible, (node) =>
        terms.reduce((sum, term) => (term.matches(node) ? sum + term.weight : sum), 0),
      );
      return scaleToMax(scores);
    },
  };
}

function unmatchedRequirements({ pod }: PodInfo, node: NodeInfo): Remedy[] {
  const { nodeSelector = {}, affinity } = pod.spec ?? {};
  const missing = Object.entries(nodeSelector)
    .filter(([key, value]) => node.labels[key] !== value)
    .map(([key, value]) => nodeHasNot(`label ${key}=${value} of the node selector`));
  const isInAffinity = requiredNodesPredicate({ ...(affinity && { affinity }) });
  if (isInAffinity?.(node) !== false) return missing;
  return [...missing, nodeIs('outside the required node affinity of the pod')];
}
