/**
 * Limit ranges of a namespace: what containers of new pods get when they do not say, and what containers,
 * pods and claims may ask for. Pods are held to them when they are made, claims whenever they are written.
 */
import { dialect } from '@orch/component';
import type { LimitRange, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import { claimProblems, podProblems } from '../core/limit-range-bounds.js';
import { fillPod } from '../core/limit-range-filling.js';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  isWriteOf,
  refusal,
} from './admission-rule.js';

const isNewPod = (target: AdmissionTarget) => isWriteOf(target, 'core', 'pods', ['CREATE']);
const isClaim = (target: AdmissionTarget) =>
  isWriteOf(target, 'core', 'persistentvolumeclaims', ['CREATE', 'UPDATE']);

async function rangesOf(
  { namespace }: AdmissionTarget,
  { reader }: AdmissionContext,
): Promise<readonly LimitRange[]> {
  return (await reader.list('core', 'limitranges', namespace)) as readonly LimitRange[];
}

export const limitRangerRule: AdmissionRule = {
  name: 'LimitRanger',

  async mutate(target, context) {
    if (!isNewPod(target)) return;
    const pod = target.object as Pod;
    const filled = fillPod(pod, await rangesOf(target, context));
    if (filled.length === 0) return;
    pod.metadata ??= {};
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      [dialect().key('limit-ranger')]: `LimitRanger plugin set: ${filled.join('; ')}`,
    };
  },

  async validate(target, context) {
    const ofPod = isNewPod(target);
    if (!ofPod && !isClaim(target)) return;
    // What goes is not held up.
    if (target.old?.metadata?.deletionTimestamp) return;
    for (const { spec } of await rangesOf(target, context)) {
      const items = spec?.limits ?? [];
      const found = ofPod
        ? podProblems(target.object as Pod, items)
        : claimProblems(target.object as PersistentVolumeClaim, items);
      const problems = [...new Set(found)];
      if (problems.length === 0) continue;
      throw refusal(target, problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`);
    }
  },
};
