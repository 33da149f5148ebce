/** Claims grow only while they are bound, to volumes of a class that can make them larger. */
import { Quantity } from '@orch/apimachinery';
import type { PersistentVolumeClaim } from '@orch/types/core/v1';
import type { StorageClass } from '@orch/types/storage/v1';
import { claimClass } from '../core/claim-validation.js';
import { type AdmissionContext, type AdmissionRule, isWriteOf, refusal } from './admission-rule.js';

const sizeOf = ({ spec }: PersistentVolumeClaim) =>
  Quantity.parse(spec?.resources?.requests?.storage ?? '0');

async function mayGrow(
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  { reader }: AdmissionContext,
): Promise<boolean> {
  const name = claimClass(claim);
  if (!name || name !== claimClass(old)) return false;
  const found = await reader.get('storage', 'storageclasses', '', name);
  return (found as StorageClass | undefined)?.allowVolumeExpansion === true;
}

export const claimResizeRule: AdmissionRule = {
  name: 'PersistentVolumeClaimResize',
  async validate(target, context) {
    if (!isWriteOf(target, 'core', 'persistentvolumeclaims', ['UPDATE'])) return;
    const claim = target.object as PersistentVolumeClaim;
    const old = target.old as PersistentVolumeClaim;
    if (sizeOf(claim).compare(sizeOf(old)) <= 0) return;
    if (old.status?.phase !== 'Bound') {
      throw refusal(target, 'Only bound persistent volume claims can be expanded');
    }
    if (await mayGrow(claim, old, context)) return;
    throw refusal(
      target,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  },
};
