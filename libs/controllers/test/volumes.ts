/** Volumes and claims for the specs of the volume binder. */
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import type { StorageClass } from '@orch/types/storage/v1';

type VolumeSpec = NonNullable<PersistentVolume['spec']>;
type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>;

export function volume(
  name: string,
  size = '1Gi',
  spec: Partial<VolumeSpec> = {},
  annotations: Record<string, string> = {},
): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, uid: `uid-${name}`, annotations },
    spec: {
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'slow',
      persistentVolumeReclaimPolicy: 'Retain',
      nfs: { server: '192.0.2.1', path: '/x' },
      ...spec,
    },
    status: { phase: 'Available' },
  };
}

export function claim(
  name: string,
  size = '1Gi',
  spec: Partial<ClaimSpec> = {},
  annotations: Record<string, string> = {},
): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, annotations },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'slow',
      resources: { requests: { storage: size } },
      ...spec,
    },
    status: { phase: 'Pending' },
  };
}

export function storageClass(
  name: string,
  provisioner: string,
  facts: Partial<StorageClass> = {},
): StorageClass {
  return {
    metadata: { name },
    provisioner,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    ...facts,
  };
}
