/**
 * Forces images to be pulled at every container start, so that a private image on a node cannot be
 * used without its pull secret. Existing pods are checked only if their images change.
 */
import type { Container, Pod } from '@orch/types/core/v1';
import { forbiddenTarget, type WriteRule, type WriteTarget } from '../rule.js';

const policy = 'Always';

/** Ephemeral containers are excluded: they are written through a subresource. */
const listsOf = ({ spec }: Pod) =>
  [
    ['containers', spec?.containers ?? []],
    ['initContainers', spec?.initContainers ?? []],
  ] as const;

const imagesOf = (pod: Pod) =>
  listsOf(pod).flatMap(([, list]) => list.map(({ image }: Container) => image));

function bringsImages(target: WriteTarget<Pod>): boolean {
  if (!target.old) return true;
  const before = new Set(imagesOf(target.old));
  return imagesOf(target.object).some((image) => !before.has(image));
}

export const alwaysPullImages: WriteRule<'core/pods'> = {
  name: 'AlwaysPullImages',
  isDefault: false,
  kinds: ['core/pods'],
  operations: ['CREATE', 'UPDATE'],
  subresource: '',

  mutate(target) {
    if (!bringsImages(target)) return;
    for (const [, list] of listsOf(target.object)) {
      for (const container of list) container.imagePullPolicy = policy;
    }
  },
  validate(target) {
    if (!bringsImages(target)) return;
    for (const [field, list] of listsOf(target.object)) {
      for (const [index, { imagePullPolicy }] of list.entries()) {
        if (imagePullPolicy === policy) continue;
        const at = `spec.${field}[${index}].imagePullPolicy`;
        const value = JSON.stringify(imagePullPolicy ?? '');
        throw forbiddenTarget(
          target,
          `${at}: Unsupported value: ${value}: supported values: "${policy}"`,
        );
      }
    }
  },
};
