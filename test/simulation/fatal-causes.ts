/** Which process failures the injected faults explain. All others are violations. */
import type { Operator } from './operator.js';
import type { SimNode } from './sim-node.js';

/** A disk error ends the process: the content of the disk is unknown from then on. */
const diskRefused = /\b(EIO|ENOSPC)\b/;

export function explains(error: Error, node: SimNode, operator: Operator): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'InvariantError') return false;
    if (diskRefused.test(cause.message)) return true;
    const { code } = cause as { code?: string };
    if (code === 'Removed') return operator.unwanted.has(node.name);
    // The machine was destroyed and is refused by the others, or has no cluster to join.
    if (code === 'BadDirectory') return operator.lost.has(node) || !operator.isMember(node);
    const isJoining = node.identity.initialState === 'join';
    if (code === 'NoQuorum' || code === 'BadConfiguration') return isJoining;
    // A record was damaged on the disk, and detected.
    if (code === 'Corrupt') return node.disk.counts.recordsDamaged > 0;
  }
  return false;
}
