/** Whether the pods of a daemon set belong on a node. Pure. */
import {
  firstUntoleratedTaint,
  type NodePredicate,
  requiredNodesPredicate,
} from '@orch/apimachinery';
import type { DaemonSet } from '@orch/types/apps/v1';
import type { Node, Toleration } from '@orch/types/core/v1';
import { daemonTolerations } from './daemon-pod.js';

export interface NodeFit {
  /** The node has to have a pod. */
  readonly shouldRun: boolean;
  /** A pod that is on the node stays. */
  readonly mayStay: boolean;
}

interface Compiled {
  readonly matches: NodePredicate | undefined;
  readonly tolerations: readonly Toleration[];
}

const compiled = new WeakMap<object, Compiled>();

/** A taint that keeps pods away leaves running ones, unless it evicts them. */
export function nodeFit(set: DaemonSet, node: Node): NodeFit {
  const { matches, tolerations } = compile(set);
  const name = node.metadata?.name ?? '';
  const wantedName = set.spec?.template?.spec?.nodeName;
  const isOtherNode = Boolean(wantedName) && wantedName !== name;
  const isSelected = matches?.({ name, labels: node.metadata?.labels ?? {} }) ?? true;
  if (isOtherNode || !isSelected) return { shouldRun: false, mayStay: false };
  const isRepelled = (...effects: string[]) =>
    firstUntoleratedTaint(node.spec?.taints ?? [], tolerations, effects) !== undefined;
  return {
    shouldRun: !isRepelled('NoSchedule', 'NoExecute'),
    mayStay: !isRepelled('NoExecute'),
  };
}

/** Compiles a set once for each of its versions. */
function compile(set: DaemonSet): Compiled {
  const spec = set.spec;
  if (!spec) return { matches: undefined, tolerations: [] };
  let found = compiled.get(spec);
  if (!found) {
    const podSpec = spec.template?.spec;
    found = {
      matches: requiredNodesPredicate(podSpec),
      tolerations: daemonTolerations(podSpec),
    };
    compiled.set(spec, found);
  }
  return found;
}
