/** Rejects nodes with a pod that uses the same disk, where the kind of disk does not allow it. */
import type { Volume } from '@orch/types/core/v1';
import { type Plugin, rejection } from '../../framework/plugin.js';

export const volumeRestrictions: Plugin = {
  name: 'VolumeRestrictions',
  retryOn: ['node added', 'pod removed'],
  filter({ pod }) {
    const disks = pod.volumes.filter(isRestricted);
    if (disks.length === 0) return undefined;
    const rejected = rejection('node(s) had no available disk');
    return (node) => {
      for (const other of node.pods.values()) {
        const hasConflict = other.volumes.some((existing) =>
          disks.some((disk) => conflicts(disk, existing)),
        );
        if (hasConflict) return rejected;
      }
      return undefined;
    };
  },
};

function isRestricted({ gcePersistentDisk, awsElasticBlockStore, rbd, iscsi }: Volume): boolean {
  return Boolean(gcePersistentDisk || awsElasticBlockStore || rbd || iscsi);
}

function conflicts(a: Volume, b: Volume): boolean {
  if (a.awsElasticBlockStore && b.awsElasticBlockStore) {
    return a.awsElasticBlockStore.volumeID === b.awsElasticBlockStore.volumeID;
  }
  if (a.gcePersistentDisk && b.gcePersistentDisk) {
    const isSame = a.gcePersistentDisk.pdName === b.gcePersistentDisk.pdName;
    return isSame && !bothReadOnly(a.gcePersistentDisk, b.gcePersistentDisk);
  }
  if (a.iscsi && b.iscsi) return a.iscsi.iqn === b.iscsi.iqn && !bothReadOnly(a.iscsi, b.iscsi);
  if (a.rbd && b.rbd) {
    const [image, other] = [a.rbd, b.rbd];
    const isSame =
      (image.monitors ?? []).some((monitor) => other.monitors?.includes(monitor)) &&
      (image.pool ?? 'rbd') === (other.pool ?? 'rbd') &&
      image.image === other.image;
    return isSame && !bothReadOnly(image, other);
  }
  return false;
}

function bothReadOnly(a: { readOnly?: boolean }, b: { readOnly?: boolean }): boolean {
  return a.readOnly === true && b.readOnly === true;
}
