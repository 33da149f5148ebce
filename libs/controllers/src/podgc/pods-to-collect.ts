/** Pods that no other component deletes. Pure. */

import type { Pod } from '@orch/types/core/v1';
import { createdMs } from '../common/created.js';
import { isPodFinished } from '../common/pods.js';

/** Finished pods beyond the threshold, oldest first; 0 keeps all. */
export function excessTerminated(pods: readonly Pod[], threshold: number): Pod[] {
  if (threshold <= 0) return [];
  const finished = pods.filter((pod) => isPodFinished(pod) && !pod.metadata?.deletionTimestamp);
  if (finished.length <= threshold) return [];
  return finished
    .sort((a, b) => createdMs(a) - createdMs(b) || compareNames(a, b))
    .slice(0, finished.length - threshold);
}

/** Pods that are being deleted and were never given to a node: no agent will end them. */
export function unscheduledTerminating(pods: readonly Pod[]): Pod[] {
  return pods.filter((pod) => pod.metadata?.deletionTimestamp && !pod.spec?.nodeName);
}

/** Names of nodes that pods are on and the cluster does not have. */
export function missingNodes(pods: readonly Pod[], nodeNames: ReadonlySet<string>): Set<string> {
  const names = pods.map((pod) => pod.spec?.nodeName ?? '');
  return new Set(names.filter((name) => name !== '' && !nodeNames.has(name)));
}

function compareNames(a: Pod, b: Pod): number {
  return (a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1;
}
