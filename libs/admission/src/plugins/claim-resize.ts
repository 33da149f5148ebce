/** Only bound claims can grow, and only if their class allows expansion. */

import { Quantity, storageClassName } from '@orch/apimachinery';
import type { PersistentVolumeClaim } from '@orch/types/core/v1';
import { type AdmissionContext, forbiddenTarget, type UpdateRule } from '../rule.js';

const sizeOf = ({ spec }: PersistentVolumeClaim) =>
  Quantity.parse(spec?.resources?.requests?.storage ?? '0');

async function mayGrow(
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  { reader }: AdmissionContext,
): Promise<boolean> {
  const name = storageClassName(claim);
  if (!name || name !== storageClassName(old)) return false;
  const found = await reader.get('storage', 'storageclasses', '', name);
  return found?.allowVolumeExpansion === true;
}

export const claimResize: UpdateRule<'core/persistentvolumeclaims'> = {
  name: 'PersistentVolumeClaimResize',
  isDefault: true,
  kinds: ['core/persistentvolumeclaims'],
  operations: ['UPDATE'],
  subresource: '',

  async validate(target, context) {
    const claim = target.object;
    const old = target.old;
    if (sizeOf(claim).compare(sizeOf(old)) <= 0) return;
    if (old.status?.phase !== 'Bound') {
      throw forbiddenTarget(target, 'Only bound persistent volume claims can be expanded');
    }
    if (await mayGrow(claim, old, context)) return;
    throw forbiddenTarget(
      target,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  },
};
