/** Nodes with special devices are tainted by the name of the device: who asks for one tolerates the taint. */
import { semanticallyEqual } from '@orch/apimachinery';
import type { Pod, Toleration } from '@orch/types/core/v1';
import { isExtended } from '../../core/resource-rules.js';
import { type AdmissionRule, isWriteOf } from '../admission-rule.js';

export const extendedResourceTolerationRule: AdmissionRule = {
  name: 'ExtendedResourceToleration',
  mutate(target) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE', 'UPDATE'])) return;
    const { spec } = target.object as Pod;
    if (!spec) return;
    const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
    const names = containers.flatMap(({ resources }) => Object.keys(resources?.requests ?? {}));
    const tolerations = spec.tolerations ?? [];
    const added = [...new Set(names)]
      .filter(isExtended)
      .sort()
      .map((key): Toleration => ({ key, operator: 'Exists', effect: 'NoSchedule' }))
      .filter((wanted) => !tolerations.some((held) => semanticallyEqual(held, wanted)));
    if (added.length > 0) spec.tolerations = [...tolerations, ...added];
  },
};
