/** CSIStorageCapacity: the available capacity of a storage class in a topology segment. */
import {
  checkDns1123Subdomain,
  type FieldError,
  immutable,
  path,
  semanticallyEqual,
  validateLabelSelector,
} from '@orch/apimachinery';
import type { CSIStorageCapacity } from '@orch/types/storage/v1beta1';
import { validateAmount } from '../core/resources/resource-rules.js';
import { define } from '../definition.js';
import { createdAtColumn, nameColumn } from '../shared/columns.js';
import { invalidEach } from '../shared/rules.js';
import { alphaVersion, storageGroup } from './versions.js';

function validateCapacity(object: CSIStorageCapacity): FieldError[] {
  const { storageClassName: name = '' } = object;
  return [
    ...validateLabelSelector(object.nodeTopology, path('nodeTopology')),
    ...invalidEach(path('storageClassName'), name, checkDns1123Subdomain(name)),
    ...(['capacity', 'maximumVolumeSize'] as const).flatMap((field) => {
      const amount = object[field];
      return amount === undefined ? [] : validateAmount('storage', amount, path(field));
    }),
  ];
}

/** The capacity is mutable; topology and class are immutable. */
function validateCapacityUpdate(object: CSIStorageCapacity, old: CSIStorageCapacity): FieldError[] {
  return (['nodeTopology', 'storageClassName'] as const)
    .filter((field) => !semanticallyEqual(object[field], old[field]))
    .map((field) => immutable(path(field), object[field]));
}

export const csiStorageCapacity = define<CSIStorageCapacity>({
  plural: 'csistoragecapacities',
  singular: '',
  kind: 'CSIStorageCapacity',
  namespaced: true,
  versions: [
    { group: storageGroup, version: 'v1beta1' },
    alphaVersion('CSIStorageCapacity', 'v1beta1'),
  ],
  stored: { group: storageGroup, version: 'v1beta1' },
  validate: validateCapacity,
  // Upstream reports every error twice at creation.
  createChecks: ['metadata', 'object', 'metadata', 'object'],
  updateChecks: ['metadata', 'object', 'update'],
  validateUpdate: validateCapacityUpdate,
  unconditionalUpdate: false,
  columns: [nameColumn(), createdAtColumn()],
});
