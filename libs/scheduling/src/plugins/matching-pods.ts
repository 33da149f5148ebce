/** Counts pods of a node for spreading. */
import type { NodeInfo } from '../model/node-info.js';
import type { PodSelector } from '../model/selectors.js';

/**
 * Returns a function that counts the pods of the namespace that match and do not terminate. Each
 * node remembers the result.
 */
export function matchingCounter(
  namespace: string,
  { key, matches }: PodSelector,
): (node: NodeInfo) => number {
  const derivedKey = `matching\n${namespace}\n${key}`;
  return (node) =>
    node.derive(derivedKey, (pods) => {
      let count = 0;
      for (const other of pods.values()) {
        if (other.namespace !== namespace || other.terminating) continue;
        if (matches(other.labels)) count++;
      }
      return count;
    });
}
