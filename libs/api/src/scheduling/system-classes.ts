/** The initial priority classes of a cluster. */
import { dialect } from '@orch/component';
import type { PriorityClass } from '@orch/types/scheduling/v1';

function systemClass(name: string, value: number, description: string): PriorityClass {
  return {
    apiVersion: dialect().apiVersion('scheduling', 'v1'),
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description,
  };
}

export function systemPriorityClasses(): PriorityClass[] {
  return [
    systemClass(
      'system-cluster-critical',
      2_000_000_000,
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    ),
    systemClass(
      'system-node-critical',
      2_000_001_000,
      'Used for system critical pods that must not be moved from their current node.',
    ),
  ];
}
