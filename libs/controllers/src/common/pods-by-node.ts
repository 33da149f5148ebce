/** Finding the pods of a node. */
import type { Indexer, Informer } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';

const nodeIndex = 'nodeName';

const nodeNames: Indexer<Pod> = (pod) => (pod.spec?.nodeName ? [pod.spec.nodeName] : []);

export function indexByNode(pods: Informer<Pod>): void {
  pods.addIndex(nodeIndex, nodeNames);
}

export function podsOnNode(pods: Informer<Pod>, nodeName: string): Pod[] {
  return pods.lister.byIndex(nodeIndex, nodeName);
}
