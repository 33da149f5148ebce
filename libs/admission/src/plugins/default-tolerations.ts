/**
 * Adds tolerations for not-ready and unreachable nodes, for a limited time, unless the pod has its
 * own.
 */
import { dialect } from '@orch/component';
import type { Toleration } from '@orch/types/core/v1';
import { type WriteRule } from '../rule.js';

const stayS = 300;

function tolerates(tolerations: readonly Toleration[], key: string): boolean {
  return tolerations.some(
    (toleration) =>
      (!toleration.key || toleration.key === key) &&
      (!toleration.effect || toleration.effect === 'NoExecute'),
  );
}

export const defaultTolerations: WriteRule<'core/pods'> = {
  name: 'DefaultTolerationSeconds',
  isDefault: true,
  kinds: ['core/pods'],
  operations: ['CREATE', 'UPDATE'],
  subresource: '',

  mutate(target) {
    const pod = target.object;
    pod.spec ??= {};
    const given = pod.spec.tolerations ?? [];
    const added = ['not-ready', 'unreachable']
      .map((name) => dialect().key(name, 'node'))
      .filter((key) => !tolerates(given, key))
      .map((key) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: stayS,
      }));
    if (added.length > 0) pod.spec.tolerations = [...given, ...added];
  },
};
