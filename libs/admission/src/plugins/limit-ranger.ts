/**
 * Enforces the limit ranges of a namespace: sets default requests and limits of containers and
 * checks the bounds for containers, pods and claims. Pods are checked at creation, claims on every
 * write.
 */

import { claimProblems, fillPod, podProblems } from '@orch/api';
import { dialect } from '@orch/component';
import type { LimitRange } from '@orch/types/core/v1';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  forbiddenTarget,
  isWriteOf,
} from '../rule.js';

const isNewPod = (target: AdmissionTarget) => isWriteOf(target, 'core', 'pods', ['CREATE']);
const isClaim = (target: AdmissionTarget) =>
  isWriteOf(target, 'core', 'persistentvolumeclaims', ['CREATE', 'UPDATE']);

function rangesOf(
  { namespace }: AdmissionTarget,
  { reader }: AdmissionContext,
): Promise<readonly LimitRange[]> {
  return reader.list('core', 'limitranges', namespace);
}

export const limitRanger: AdmissionRule = {
  name: 'LimitRanger',
  isDefault: true,
  kinds: ['core/pods', 'core/persistentvolumeclaims'],
  operations: ['CREATE', 'UPDATE'],
  subresource: '',

  async mutate(target, context) {
    if (!isNewPod(target)) return;
    const pod = target.object;
    const filled = fillPod(pod, await rangesOf(target, context));
    if (filled.length === 0) return;
    pod.metadata ??= {};
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      [dialect().key('limit-ranger')]: `LimitRanger plugin set: ${filled.join('; ')}`,
    };
  },

  async validate(target, context) {
    if (!isNewPod(target) && !isClaim(target)) return;
    // Objects in deletion are exempt.
    if (target.old?.metadata?.deletionTimestamp) return;
    for (const { spec } of await rangesOf(target, context)) {
      const items = spec?.limits ?? [];
      const found = isNewPod(target)
        ? podProblems(target.object, items)
        : claimProblems(target.object, items);
      const problems = [...new Set(found)];
      if (problems.length === 0) continue;
      throw forbiddenTarget(
        target,
        problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`,
      );
    }
  },
};
