/** PersistentVolumeClaim: a request for storage by size and access modes. */
import { type FieldError, fieldError, path, Quantity } from '@orch/apimachinery';
import { dialect, type Features } from '@orch/component';
import type { PersistentVolumeClaim } from '@orch/types/core/v1';
import { define } from '../../definition.js';
import { ageColumn, nameColumn } from '../../shared/columns.js';
import { validateClaimSpec, validateClaimUpdate } from './claim-validation.js';
import {
  accessModesCell,
  storageClassColumn,
  volumeModeColumn,
  volumeStatusColumn,
} from './volume-columns.js';

/** Without `AnyVolumeDataSource`, only claims and snapshots are data sources. */
function dropUnknownSource({ spec }: PersistentVolumeClaim, features: Features): void {
  if (features.enabled('AnyVolumeDataSource')) return;
  const { kind, apiGroup } = spec?.dataSource ?? {};
  const isClaim = kind === 'PersistentVolumeClaim' && !apiGroup;
  const isSnapshot =
    kind === 'VolumeSnapshot' && apiGroup === `snapshot.storage.${dialect().groupDomain}`;
  if (!isClaim && !isSnapshot) delete spec?.dataSource;
}

const validate = ({ spec }: PersistentVolumeClaim) => validateClaimSpec(spec ?? {}, path('spec'));

function validateStatus({ spec, status }: PersistentVolumeClaim): FieldError[] {
  const errors: FieldError[] = [];
  if (!spec?.accessModes?.length) errors.push(fieldError.required(path('Spec', 'accessModes')));
  for (const [name, text] of Object.entries(status?.capacity ?? {})) {
    const amount = Quantity.parse(text);
    if (amount.nanos >= 0n) continue;
    errors.push(
      fieldError.invalid(
        path('status', 'capacity').key(name),
        Number(amount.units()),
        'must be a valid resource quantity',
      ),
    );
  }
  return errors;
}

/** Empty until the claim is bound. */
function gotWhenBound(object: PersistentVolumeClaim, cell: string | undefined): string {
  return object.spec?.volumeName ? (cell ?? '0') : '';
}

export const persistentVolumeClaim = define<PersistentVolumeClaim>({
  plural: 'persistentvolumeclaims',
  singular: '',
  kind: 'PersistentVolumeClaim',
  shortNames: ['pvc'],
  namespaced: true,
  versions: [{ group: 'core', version: 'v1' }],
  stored: { group: 'core', version: 'v1' },
  gatedFields: [{ gate: 'ExpandPersistentVolumes', path: 'status.conditions' }],
  prepareForCreate(object, { features }) {
    object.status = { phase: 'Pending' };
    dropUnknownSource(object, features);
  },
  prepareForUpdate(object, old, { features }) {
    object.status = old.status;
    if (!old.spec?.dataSource) dropUnknownSource(object, features);
  },
  validate,
  validateUpdate: validateClaimUpdate,
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'metadata', 'object', 'update'],
  deleteReturnsObject: true,
  columns: [
    nameColumn(),
    volumeStatusColumn(),
    {
      name: 'Volume',
      type: 'string',
      description: 'Name of the bound volume.',
      cell: (object) => object.spec?.volumeName ?? '',
    },
    {
      name: 'Capacity',
      type: 'string',
      description: 'Capacity of the volume.',
      cell: (object) => gotWhenBound(object, object.status?.capacity?.storage),
    },
    {
      name: 'Access Modes',
      type: 'string',
      description: 'Access modes of the volume.',
      cell: (object) => gotWhenBound(object, accessModesCell(object.status?.accessModes)),
    },
    storageClassColumn(),
    ageColumn(),
    volumeModeColumn(),
  ],
  status: {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
    },
    validateUpdate: validateStatus,
  },
});
