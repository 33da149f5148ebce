/** StorageClass: how volumes of a class are provisioned. */
import {
  checkQualifiedName,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { TopologySelectorTerm } from '@orch/types/core/v1';
import type { StorageClass } from '@orch/types/storage/v1';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { checkOneOf, checkQualified, checkRequired } from '../shared/rules.js';
import { validateMapSize } from './map-size.js';
import { storageGroup, storageVersions } from './versions.js';

const parameterCountMax = 512;

function validateStorageClass(object: StorageClass): FieldError[] {
  return [
    ...checkRequired(object.provisioner, path('provisioner'), (name) =>
      checkQualifiedName(name.toLowerCase()),
    ),
    ...validateParameters(object.parameters ?? {}, path('parameters')),
    ...(object.reclaimPolicy
      ? checkOneOf(object.reclaimPolicy, ['Delete', 'Retain'], path('reclaimPolicy'))
      : []),
    ...(object.volumeBindingMode === undefined
      ? [fieldError.required(path('volumeBindingMode'))]
      : checkOneOf(
          object.volumeBindingMode,
          ['Immediate', 'WaitForFirstConsumer'],
          path('volumeBindingMode'),
        )),
    ...validateTopologies(object.allowedTopologies ?? [], path('allowedTopologies')),
  ];
}

function validateParameters(
  parameters: Readonly<Record<string, string>>,
  fieldPath: FieldPath,
): FieldError[] {
  if (Object.keys(parameters).length > parameterCountMax) {
    return [fieldError.tooLong(fieldPath, parameterCountMax)];
  }
  const empty = Object.keys(parameters).filter((key) => key === '');
  return [
    ...empty.map((key) => fieldError.invalid(fieldPath, key, 'field can not be empty.')),
    ...validateMapSize(parameters, fieldPath),
  ];
}

function validateTopologies(
  terms: readonly TopologySelectorTerm[],
  fieldPath: FieldPath,
): FieldError[] {
  // Upstream compares each term also with an empty one for each term.
  const seen = terms.map(() => valuesByKey({}));
  return terms.flatMap((term, index) => {
    const field = fieldPath.index(index).child('matchLabelExpressions');
    const errors = validateTerm(term, field);
    const values = valuesByKey(term);
    for (const other of seen) {
      if (other === values) errors.push(fieldError.duplicate(field, ''));
    }
    seen.push(values);
    return errors;
  });
}

/** A text that is equal for terms with the same values for the same keys. */
function valuesByKey({ matchLabelExpressions = [] }: TopologySelectorTerm): string {
  const values = new Map(
    matchLabelExpressions.map(({ key, values }) => [key, [...new Set(values)].sort()]),
  );
  return JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function validateTerm({ matchLabelExpressions }: TopologySelectorTerm, fieldPath: FieldPath) {
  const keys = new Set<string>();
  return (matchLabelExpressions ?? []).flatMap(({ key, values = [] }, index) => {
    const valuesAt = fieldPath.index(index).child('values');
    const keyAt = fieldPath.index(index).child('key');
    const errors: FieldError[] = values.length === 0 ? [fieldError.required(valuesAt)] : [];
    for (const [position, value] of values.entries()) {
      if (values.indexOf(value) < position) {
        errors.push(fieldError.duplicate(valuesAt.index(position), value));
      }
    }
    errors.push(...checkQualified(key, keyAt));
    if (keys.has(key)) errors.push(fieldError.duplicate(keyAt, key));
    keys.add(key);
    return errors;
  });
}

function validateStorageClassUpdate(object: StorageClass, old: StorageClass): FieldError[] {
  const forbidden = (['parameters', 'provisioner', 'reclaimPolicy'] as const).filter(
    (field) => !semanticallyEqual(object[field] ?? {}, old[field] ?? {}),
  );
  return [
    ...forbidden.map((field) =>
      fieldError.forbidden(path(field), `updates to ${field} are forbidden.`),
    ),
    ...(object.volumeBindingMode === old.volumeBindingMode
      ? []
      : [immutable(path('volumeBindingMode'), object.volumeBindingMode)]),
  ];
}

/** The class for claims without a class. */
export function isDefaultStorageClass({ metadata }: StorageClass): boolean {
  return ['storageclass', 'storageclass.beta'].some(
    (subdomain) => metadata?.annotations?.[dialect().key('is-default-class', subdomain)] === 'true',
  );
}

const columns: readonly TableColumn<StorageClass>[] = [
  {
    ...nameColumn<StorageClass>(),
    cell: (object) =>
      isDefaultStorageClass(object)
        ? `${object.metadata?.name} (default)`
        : (object.metadata?.name ?? ''),
  },
  {
    name: 'Provisioner',
    type: 'string',
    description: 'Name of the provisioner.',
    cell: (object) => object.provisioner ?? '',
  },
  {
    name: 'ReclaimPolicy',
    type: 'string',
    description: 'What happens to a volume when its claim is deleted.',
    cell: (object) => object.reclaimPolicy ?? 'Delete',
  },
  {
    name: 'VolumeBindingMode',
    type: 'string',
    description: 'When volumes are bound and provisioned.',
    cell: (object) => object.volumeBindingMode ?? 'Immediate',
  },
  {
    name: 'AllowVolumeExpansion',
    type: 'string',
    description: 'Whether claims can be expanded.',
    cell: (object) => object.allowVolumeExpansion ?? false,
  },
  ageColumn(),
];

export const storageClass = define<StorageClass>({
  plural: 'storageclasses',
  singular: '',
  kind: 'StorageClass',
  shortNames: ['sc'],
  namespaced: false,
  versions: storageVersions('StorageClass', '1.19'),
  stored: { group: storageGroup, version: 'v1' },
  gatedFields: [{ gate: 'ExpandPersistentVolumes', path: 'allowVolumeExpansion' }],
  validate: validateStorageClass,
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'update'],
  validateUpdate: validateStorageClassUpdate,
  deleteReturnsObject: true,
  columns,
});
