/** Sets the default class on claims and ingresses without a class, if there is a default. */

import type { ApiObject } from '@orch/api';
import { isDefaultStorageClass } from '@orch/api';
import { storageClassKey } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { IngressClass } from '@orch/types/networking/v1';
import type { StorageClass } from '@orch/types/storage/v1';
import {
  type AdmissionContext,
  type AdmissionTarget,
  forbiddenTarget,
  type ObjectReader,
  type WriteRule,
} from '../rule.js';

interface Classes<T> {
  readonly list: (reader: ObjectReader) => Promise<readonly T[]>;
  readonly isDefault: (object: T) => boolean;
  /** The cause if several classes are the default. */
  readonly several: (count: number) => string;
}

/** Name of the default class. Throws 403 if there are several. */
async function defaultClass<T extends ApiObject>(
  target: AdmissionTarget,
  { reader }: AdmissionContext,
  { list, isDefault, several }: Classes<T>,
): Promise<string | undefined> {
  const defaults = (await list(reader)).filter(isDefault);
  if (defaults.length > 1) {
    throw forbiddenTarget(target, `Internal error occurred: ${several(defaults.length)}`);
  }
  return defaults[0]?.metadata?.name;
}

const storageClasses: Classes<StorageClass> = {
  list: (reader) => reader.list('storage', 'storageclasses'),
  isDefault: isDefaultStorageClass,
  several: (count) => `${count} default StorageClasses were found`,
};

const ingressClasses: Classes<IngressClass> = {
  list: (reader) => reader.list('networking', 'ingressclasses'),
  isDefault: ({ metadata }) =>
    metadata?.annotations?.[dialect().key('is-default-class', 'ingressclass')] === 'true',
  several: (count) => `${count} default IngressClasses were found, only 1 allowed`,
};

export const defaultStorageClass: WriteRule<'core/persistentvolumeclaims'> = {
  name: 'DefaultStorageClass',
  isDefault: true,
  kinds: ['core/persistentvolumeclaims'],
  operations: ['CREATE'],
  subresource: '',

  async mutate(target, context) {
    const claim = target.object;
    // An empty class counts as set: it requests volumes without a class.
    if (claim.spec?.storageClassName !== undefined) return;
    if (claim.metadata?.annotations?.[storageClassKey()] !== undefined) return;
    const name = await defaultClass(target, context, storageClasses);
    if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name };
  },
};

export const defaultIngressClass: WriteRule<'networking/ingresses'> = {
  name: 'DefaultIngressClass',
  isDefault: true,
  kinds: ['networking/ingresses'],
  operations: ['CREATE'],
  subresource: '',

  async mutate(target, context) {
    // Clients of the older group do not use classes.
    if (target.groupResource.group !== dialect().group('networking')) return;
    const ingress = target.object;
    if (ingress.spec?.ingressClassName !== undefined) return;
    if (ingress.metadata?.annotations?.[dialect().key('ingress.class')] !== undefined) return;
    const name = await defaultClass(target, context, ingressClasses);
    if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name };
  },
};
