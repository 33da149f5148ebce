/**
 * Adds tolerations for extended resources: nodes with special devices have a taint with the name of
 * the resource, and pods that request the resource tolerate it.
 */

import { isExtended } from '@orch/api';
import { semanticallyEqual } from '@orch/apimachinery';
import type { Toleration } from '@orch/types/core/v1';
import { type WriteRule } from '../rule.js';

export const extendedResourceToleration: WriteRule<'core/pods'> = {
  name: 'ExtendedResourceToleration',
  isDefault: false,
  kinds: ['core/pods'],
  operations: ['CREATE', 'UPDATE'],
  subresource: '',

  mutate(target) {
    const { spec } = target.object;
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
