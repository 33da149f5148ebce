/** A new node takes no pods before its conditions are known. */
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import { type AdmissionRule, isWriteOf } from './admission-rule.js';

export const taintNewNodesRule: AdmissionRule = {
  name: 'TaintNodesByCondition',
  mutate(target) {
    if (!isWriteOf(target, 'core', 'nodes', ['CREATE'])) return;
    const node = target.object as Node;
    node.spec ??= {};
    const key = dialect().key('not-ready', 'node');
    const taints = node.spec.taints ?? [];
    if (taints.some((taint) => taint.key === key && taint.effect === 'NoSchedule')) return;
    node.spec.taints = [...taints, { key, effect: 'NoSchedule' }];
  },
};
