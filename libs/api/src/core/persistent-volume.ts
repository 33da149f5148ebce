/** PersistentVolume: a piece of storage, with a life of its own. */
import type { PersistentVolume } from '@orch/types/core/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
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
    object.status = { phase: 'Pending' };
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate: validateVolume,
  // An update reports what is wrong with the object twice, as clients know it.
  validateUpdate: (object, old) => [
    ...validateVolume(object),
    ...validateVolumeUpdate(object, old),
  ],
  deleteReturnsObject: true,
  columns: [
    nameColumn(),
    {
      name: 'Capacity',
      type: 'string',
      description: 'Size.',
      cell: (object) => object.spec?.capacity?.storage ?? '0',
    },
    {
      name: 'Access Modes',
      type: 'string',
      description: 'How it may be mounted.',
      cell: (object) => accessModesCell(object.spec?.accessModes),
    },
    {
      name: 'Reclaim Policy',
      type: 'string',
      description: 'What becomes of it when its claim goes.',
      cell: (object) => object.spec?.persistentVolumeReclaimPolicy ?? '',
    },
    volumeStatusColumn(),
    {
      name: 'Claim',
      type: 'string',
      description: 'Claim it is bound to.',
      cell: claimCell,
    },
    storageClassColumn(),
    {
      name: 'Reason',
      type: 'string',
      description: 'Why it is in that state.',
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
