/** The conditions of a node that has gone silent. Pure. */
import { conditionOf, formatTime } from '@orch/apimachinery';
import type { Node, NodeCondition } from '@orch/types/core/v1';

const reportedTypes = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** `None`: the node has not said yet. */
export type Readiness = 'True' | 'False' | 'Unknown' | 'None';

export function readinessOf(node: Node): Readiness {
  const status = conditionOf(node.status?.conditions, 'Ready')?.status;
  if (status === undefined) return 'None';
  if (status === 'True') return 'True';
  return status === 'False' ? 'False' : 'Unknown';
}

/** All that the node reports becomes unknown; undefined when it is so already. */
export function unknownConditions(node: Node, nowMs: number): NodeCondition[] | undefined {
  const before = node.status?.conditions ?? [];
  const now = formatTime(nowMs);
  let isChanged = false;
  const marked = reportedTypes.map((type): NodeCondition => {
    const existing = conditionOf(before, type);
    if (!existing) {
      isChanged = true;
      return {
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: node.metadata?.creationTimestamp ?? now,
        lastTransitionTime: now,
      };
    }
    if (existing.status === 'Unknown') return existing;
    isChanged = true;
    return {
      ...existing,
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastTransitionTime: now,
    };
  });
  if (!isChanged) return undefined;
  const others = before.filter(({ type }) => !reportedTypes.some((reported) => reported === type));
  return [...others, ...marked];
}
