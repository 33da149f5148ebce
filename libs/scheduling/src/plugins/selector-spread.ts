/**
 * Spreads the pods of a service or controller over nodes and, with more weight, over zones. The
 * default profile uses `PodTopologySpread` for that instead.
 */
import { zoneOf } from '../cache/snapshot.js';
import { type Plugin, scoreEach, scoreMax } from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import { matchingCounter } from './matching-pods.js';
import { ownerSelector } from './owner-selector.js';

const zoneWeight = 2 / 3;
/** The zone of nodes without labels of region and zone. */
const noZone = '/';

export const selectorSpread: Plugin = {
  name: 'SelectorSpread',
  // The selector is found with the scores.
  preScore: () => undefined,
  score({ pod, context }, feasible) {
    if (pod.spread.length > 0) return undefined;
    const selector = ownerSelector(pod, context.objects);
    const count = selector ? matchingCounter(pod.namespace, selector) : () => 0;
    return spread(scoreEach(feasible, count), feasible);
  },
};

/** Turns the counts of pods into scores, in place. */
function spread(scores: Float64Array, feasible: readonly NodeInfo[]): Float64Array {
  const byZone = new Map<string, number>();
  let countMax = 0;
  feasible.forEach((node, index) => {
    countMax = Math.max(countMax, scores[index]!);
    const zone = zoneOf(node);
    if (zone !== noZone) byZone.set(zone, (byZone.get(zone) ?? 0) + scores[index]!);
  });
  const zoneCountMax = Math.max(0, ...byZone.values());
  const share = (count: number, max: number) =>
    max > 0 ? scoreMax * ((max - count) / max) : scoreMax;
  feasible.forEach((node, index) => {
    const byNode = share(scores[index]!, countMax);
    const zone = zoneOf(node);
    scores[index] = Math.trunc(
      zone !== noZone
        ? byNode * (1 - zoneWeight) + zoneWeight * share(byZone.get(zone)!, zoneCountMax)
        : byNode,
    );
  });
  return scores;
}
