/** Counts the pods of a node that affinity terms select. */
import type { Cycle } from '../framework/cycle.js';
import type { NodeInfo } from '../model/node-info.js';
import type { AffinityTerm, PodInfo } from '../model/pod-info.js';

/**
 * Returns a function that counts the pods that all terms select; none without terms. Each node
 * remembers the result, unless it depends on the labels of namespaces.
 */
export function termsCounter(
  { context }: Pick<Cycle, 'context'>,
  terms: readonly AffinityTerm[],
): (node: NodeInfo) => number {
  const { namespaceLabels } = context.objects;
  if (terms.length === 0) return () => 0;
  const count = (pods: ReadonlyMap<string, PodInfo>) => {
    let selected = 0;
    for (const other of pods.values()) {
      if (terms.every((term) => term.selects(other, namespaceLabels))) selected++;
    }
    return selected;
  };
  if (terms.some(({ key }) => key === undefined)) return (node) => count(node.pods);
  const derivedKey = `selected\n${terms.map(({ key }) => key).join('\n')}`;
  return (node) => node.derive(derivedKey, count);
}

/** Returns a text that is the same for pods that the terms of all other pods treat alike. */
export function identityOf({ pod, context }: Pick<Cycle, 'pod' | 'context'>): string {
  const { namespace, labels } = pod;
  return JSON.stringify([namespace, labels, context.objects.namespaceLabels(namespace)]);
}
