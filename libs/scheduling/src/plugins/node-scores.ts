/** Scores that look at the node alone: preferred affinity, tolerable taints, images already there. */
import { toleratesTaint } from '@orch/apimachinery';
import { type ScorePlugin, scaleToMax, scoreMax } from '../framework/plugin.js';

/** The weights of the preferred terms that a node matches, summed. */
export const preferredNodeAffinity: ScorePlugin = {
  name: 'NodeAffinity',
  weight: 1,
  prepare(pod) {
    if (pod.preferredNodes.length === 0) return undefined;
    return {
      score: (node) =>
        pod.preferredNodes.reduce((sum, term) => (term.matches(node) ? sum + term.weight : sum), 0),
      normalise: (scores) => scaleToMax(scores),
    };
  },
};

/** The fewer `PreferNoSchedule` taints that the pod does not tolerate, the better. */
export const preferredTaints: ScorePlugin = {
  name: 'TaintToleration',
  weight: 1,
  prepare(pod, _context, feasible) {
    const softly = feasible.some((node) =>
      node.taints.some((taint) => taint.effect === 'PreferNoSchedule'),
    );
    if (!softly) return undefined;
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

/** Sizes between which image bytes already on a node count, per container. */
const imageBytesMin = 23 * 1024 * 1024;
const imageBytesMaxPerContainer = 1000 * 1024 * 1024;

/**
 * Prefers nodes that hold the pod's images, by size. An image counts by the share of nodes that have
 * it, so that a rare image does not draw all its pods onto one node.
 */
export const imageLocality: ScorePlugin = {
  name: 'ImageLocality',
  weight: 1,
  prepare(pod, context) {
    const names = pod.images.map(withTag);
    const { nodes } = context.cluster;
    const holders = names.map((name) =>
      nodes.reduce((count, node) => (node.images.has(name) ? count + 1 : count), 0),
    );
    if (holders.every((count) => count === 0)) return undefined;
    const bytesMax = imageBytesMaxPerContainer * names.length;
    return {
      score(node) {
        let bytes = 0;
        names.forEach((name, index) => {
          const size = node.images.get(name) ?? 0;
          bytes += Math.trunc((size * holders[index]!) / nodes.length);
        });
        const within = Math.min(Math.max(bytes, imageBytesMin), bytesMax);
        return Math.trunc((scoreMax * (within - imageBytesMin)) / (bytesMax - imageBytesMin));
      },
    };
  },
};

/** An image name without tag or digest means `latest`. */
function withTag(image: string): string {
  return image.lastIndexOf(':') > image.lastIndexOf('/') || image.includes('@')
    ? image
    : `${image}:latest`;
}
