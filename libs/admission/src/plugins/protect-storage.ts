/**
 * Adds the protection finalizers to volumes and claims; controllers remove them when nothing uses
 * the storage.
 */
import { dialect } from '@orch/component';
import { type AdmissionRule } from '../rule.js';

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumes: 'pv-protection',
  persistentvolumeclaims: 'pvc-protection',
};

export const protectStorage: AdmissionRule = {
  name: 'StorageObjectInUseProtection',
  isDefault: true,
  kinds: ['core/persistentvolumes', 'core/persistentvolumeclaims'],
  operations: ['CREATE'],
  subresource: '',

  mutate(target) {
    const name = finalizers[target.plural];
    if (!name) return;
    const finalizer = dialect().key(name);
    const object = target.object!;
    object.metadata ??= {};
    const held = object.metadata.finalizers ?? [];
    if (!held.includes(finalizer)) object.metadata.finalizers = [...held, finalizer];
  },
};
