/**
 * Images are pulled whenever a container starts, so that a private one on a node is of no use to who has no
 * secret for it. Pods that were there before are held to it only when their images change.
 */
import type { Container, Pod } from '@orch/types/core/v1';
import { type AdmissionRule, type AdmissionTarget, isWriteOf, refusal } from '../admission-rule.js';

const policy = 'Always';

/** Those that people attach for debugging come by a subresource, and are not looked at. */
const listsOf = ({ spec }: Pod) =>
  [
    ['containers', spec?.containers ?? []],
    ['initContainers', spec?.initContainers ?? []],
  ] as const;

const imagesOf = (pod: Pod) =>
  listsOf(pod).flatMap(([, list]) => list.map(({ image }: Container) => image));

function bringsImages(target: AdmissionTarget): boolean {
  if (!isWriteOf(target, 'core', 'pods', ['CREATE', 'UPDATE'])) return false;
  if (!target.old) return true;
  const before = new Set(imagesOf(target.old as Pod));
  return imagesOf(target.object as Pod).some((image) => !before.has(image));
}

export const alwaysPullImagesRule: AdmissionRule = {
  name: 'AlwaysPullImages',
  mutate(target) {
    if (!bringsImages(target)) return;
    for (const [, list] of listsOf(target.object as Pod)) {
      for (const container of list) container.imagePullPolicy = policy;
    }
  },
  validate(target) {
    if (!bringsImages(target)) return;
    for (const [field, list] of listsOf(target.object as Pod)) {
      for (const [index, { imagePullPolicy }] of list.entries()) {
        if (imagePullPolicy === policy) continue;
        const at = `spec.${field}[${index}].imagePullPolicy`;
        const value = JSON.stringify(imagePullPolicy ?? '');
        throw refusal(target, `${at}: Unsupported value: ${value}: supported values: "${policy}"`);
      }
    }
  },
};
