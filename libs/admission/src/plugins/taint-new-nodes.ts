/** Taints new nodes as not ready until their conditions are known. */
import { dialect } from '@orch/component';
import { type WriteRule } from '../rule.js';

export const taintNewNodes: WriteRule<'core/nodes'> = {
  name: 'TaintNodesByCondition',
  isDefault: true,
  kinds: ['core/nodes'],
  operations: ['CREATE'],
  subresource: '',

  mutate(target) {
    const node = target.object;
    node.spec ??= {};
    const key = dialect().key('not-ready', 'node');
    const taints = node.spec.taints ?? [];
    if (taints.some((taint) => taint.key === key && taint.effect === 'NoSchedule')) return;
    node.spec.taints = [...taints, { key, effect: 'NoSchedule' }];
  },
};
