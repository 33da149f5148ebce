/** Claims and ingresses that name no class get the one that is marked as default, if there is one. */
import { dialect } from '@orch/component';
import type { PersistentVolumeClaim } from '@orch/types/core/v1';
import type { Ingress, IngressClass } from '@orch/types/networking/v1';
import type { StorageClass } from '@orch/types/storage/v1';
import { classAnnotation } from '../core/claim-validation.js';
import type { ApiObject } from '../definition.js';
import { isDefaultStorageClass } from '../storage/storage-class.js';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  isWriteOf,
  refusal,
} from './admission-rule.js';

interface Classes<T> {
  readonly groupHead: string;
  readonly plural: string;
  readonly isDefault: (object: T) => boolean;
  /** What is said when there are several. */
  readonly several: (count: number) => string;
}

/** Name of the default class. Throws 403 when it is not clear which. */
async function defaultClass<T extends ApiObject>(
  target: AdmissionTarget,
  { reader }: AdmissionContext,
  { groupHead, plural, isDefault, several }: Classes<T>,
): Promise<string | undefined> {
  const defaults = ((await reader.list(groupHead, plural)) as readonly T[]).filter(isDefault);
  if (defaults.length > 1) {
    throw refusal(target, `Internal error occurred: ${several(defaults.length)}`);
  }
  return defaults[0]?.metadata?.name;
}

const storageClasses: Classes<StorageClass> = {
  groupHead: 'storage',
  plural: 'storageclasses',
  isDefault: isDefaultStorageClass,
  several: (count) => `${count} default StorageClasses were found`,
};

const ingressClasses: Classes<IngressClass> = {
  groupHead: 'networking',
  plural: 'ingressclasses',
  isDefault: ({ metadata }) =>
    metadata?.annotations?.[dialect().key('is-default-class', 'ingressclass')] === 'true',
  several: (count) => `${count} default IngressClasses were found, only 1 allowed`,
};

export const defaultStorageClassRule: AdmissionRule = {
  name: 'DefaultStorageClass',
  async mutate(target, context) {
    if (!isWriteOf(target, 'core', 'persistentvolumeclaims', ['CREATE'])) return;
    const claim = target.object as PersistentVolumeClaim;
    // An empty class is one: it asks for volumes without.
    if (claim.spec?.storageClassName !== undefined) return;
    if (claim.metadata?.annotations?.[classAnnotation()] !== undefined) return;
    const name = await defaultClass(target, context, storageClasses);
    if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name };
  },
};

export const defaultIngressClassRule: AdmissionRule = {
  name: 'DefaultIngressClass',
  async mutate(target, context) {
    if (!isWriteOf(target, 'networking', 'ingresses', ['CREATE'])) return;
    // Clients of the older group know nothing of classes.
    if (target.groupResource.group !== dialect().group('networking')) return;
    const ingress = target.object as Ingress;
    if (ingress.spec?.ingressClassName !== undefined) return;
    if (ingress.metadata?.annotations?.[dialect().key('ingress.class')] !== undefined) return;
    const name = await defaultClass(target, context, ingressClasses);
    if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name };
  },
};
