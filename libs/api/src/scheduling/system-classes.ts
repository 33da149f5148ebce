/** The priority classes that every cluster has. */
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
      'For pods that the cluster cannot do without, wherever they run.',
    ),
    systemClass(
      'system-node-critical',
      2_000_001_000,
      'For pods that their node cannot do without.',
    ),
  ];
}
