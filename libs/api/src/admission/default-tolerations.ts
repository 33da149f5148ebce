/** Pods stay a while on a node that is not ready or cannot be reached, unless they say otherwise. */
import { dialect } from '@orch/component';
import type { Pod, Toleration } from '@orch/types/core/v1';
import { type AdmissionRule, isWriteOf } from './admission-rule.js';

const stayS = 300;

function tolerates(tolerations: readonly Toleration[], key: string): boolean {
  return tolerations.some(
    (toleration) =>
      (!toleration.key || toleration.key === key) &&
      (!toleration.effect || toleration.effect === 'NoExecute'),
  );
}

export const defaultTolerationsRule: AdmissionRule = {
  name: 'DefaultTolerationSeconds',
  mutate(target) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE', 'UPDATE'])) return;
    const pod = target.object as Pod;
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
