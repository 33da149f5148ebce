/**
 * Scores nodes by the size of the pod's images on them. The size is weighted by the share of nodes
 * that have the image, so that a rare image does not attract all its pods to one node.
 */
import { type Plugin, scoreEach, scoreMax } from '../framework/plugin.js';

/** Limits of the image bytes on a node that count, per container. */
const imageBytesMin = 23 * 1024 * 1024;
const imageBytesMaxPerContainer = 1000 * 1024 * 1024;

export const imageLocality: Plugin = {
  name: 'ImageLocality',
  score({ pod, context: { cluster } }, feasible) {
    const names = pod.images.map(withTag);
    const holders = names.map((name) => cluster.imageHolderCount(name));
    if (holders.every((count) => count === 0)) return undefined;
    const bytesMax = imageBytesMaxPerContainer * names.length;
    return scoreEach(feasible, (node) => {
      let bytes = 0;
      names.forEach((name, index) => {
        const size = node.images.get(name) ?? 0;
        bytes += Math.trunc(size * (holders[index]! / cluster.nodes.length));
      });
      const within = Math.min(Math.max(bytes, imageBytesMin), bytesMax);
      return Math.trunc((scoreMax * (within - imageBytesMin)) / (bytesMax - imageBytesMin));
    });
  },
};

/** Returns the image name with the tag `latest` if it has neither tag nor digest. */
function withTag(image: string): string {
  return image.lastIndexOf(':') > image.lastIndexOf('/') || image.includes('@')
    ? image
    : `${image}:latest`;
}
