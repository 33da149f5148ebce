/** Volumes and claims stay, once deleted, until what uses them is gone; controllers let them go then. */
import { dialect } from '@orch/component';
import { type AdmissionRule, isWriteOf } from './admission-rule.js';

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumes: 'pv-protection',
  persistentvolumeclaims: 'pvc-protection',
};

export const protectStorageRule: AdmissionRule = {
  name: 'StorageObjectInUseProtection',
  mutate(target) {
    const name = finalizers[target.plural];
    if (!name || !isWriteOf(target, 'core', target.plural, ['CREATE'])) return;
    const finalizer = dialect().key(name);
    const object = target.object!;
    object.metadata ??= {};
    const held = object.metadata.finalizers ?? [];
    if (!held.includes(finalizer)) object.metadata.finalizers = [...held, finalizer];
  },
};
