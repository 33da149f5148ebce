/** PersistentVolume: storage with its own life cycle. */
import type { PersistentVolume } from '@orch/types/core/v1';
import { define } from '../../definition.js';
import { ageColumn, nameColumn } from '../../shared/columns.js';
import { validateVolume, validateVolumeUpdate } from './persistent-volume-validation.js';
import {
  accessModesCell,
  storageClassColumn,
  volumeModeColumn,
  volumeStatusColumn,
} from './volume-columns.js';

function claimCell({ spec }: PersistentVolume): string {
  const claim = spec?.claimRef;
  return claim ? `${claim.namespace ?? ''}/${claim.name ?? ''}` : '';
}

export const persistentVolume = define<PersistentVolume>({
  plural: 'persistentvolumes',
  singular: '',
  kind: 'PersistentVolume',
  shortNames: ['pv'],
  namespaced: false,
  versions: [{ group: 'core', version: 'v1' }],
  stored: { group: 'core', version: 'v1' },
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForStorage(object) {
    object.status = { phase: 'Pending' };
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate: validateVolume,
  validateUpdate: validateVolumeUpdate,
  updateChecks: ['metadata', 'object', 'metadata', 'object', 'update'],
  deleteReturnsObject: true,
  columns: [
    nameColumn(),
    {
      name: 'Capacity',
      type: 'string',
      description: 'Capacity of the volume.',
      cell: (object) => object.spec?.capacity?.storage ?? '0',
    },
    {
      name: 'Access Modes',
      type: 'string',
      description: 'Access modes of the volume.',
      cell: (object) => accessModesCell(object.spec?.accessModes),
    },
    {
      name: 'Reclaim Policy',
      type: 'string',
      description: 'What happens to the volume when its claim is deleted.',
      cell: (object) => object.spec?.persistentVolumeReclaimPolicy ?? '',
    },
    volumeStatusColumn(),
    {
      name: 'Claim',
      type: 'string',
      description: 'Bound claim.',
      cell: claimCell,
    },
    storageClassColumn(),
    {
      name: 'Reason',
      type: 'string',
      description: 'Reason for the status.',
      cell: (object) => object.status?.reason ?? '',
    },
    ageColumn(),
    volumeModeColumn(),
  ],
  status: {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
    },
  },
});
