/** StorageClass: how volumes of a kind are made. */
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
import { checkOneOf, checkQualified, checkRequired, checkRequiredOneOf } from '../shared/rules.js';
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
    ...checkRequiredOneOf(
      object.volumeBindingMode,
      ['Immediate', 'WaitForFirstConsumer'],
      path('volumeBindingMode'),
    ),
    ...validateTopologies(object.allowedTopologies ?? [], path('allowedTopologies')),
  ];
}

function validateParameters(
  parameters: Readonly<Record<string, string>>,
  at: FieldPath,
): FieldError[] {
  if (Object.keys(parameters).length > parameterCountMax) {
    return [fieldError.tooLong(at, parameterCountMax)];
  }
  const empty = Object.keys(parameters).filter((key) => key === '');
  return [
    ...empty.map((key) => fieldError.invalid(at, key, 'field can not be empty.')),
    ...validateMapSize(parameters, at),
  ];
}

function validateTopologies(terms: readonly TopologySelectorTerm[], at: FieldPath): FieldError[] {
  const seen: Readonly<Record<string, readonly string[]>>[] = [];
  return terms.flatMap((term, index) => {
    const field = at.index(index).child('matchLabelExpressions');
    const errors = validateTerm(term, field);
    const values = valuesByKey(term);
    if (seen.some((other) => semanticallyEqual(other, values))) {
      errors.push(fieldError.duplicate(field, ''));
    }
    seen.push(values);
    return errors;
  });
}

function valuesByKey({ matchLabelExpressions }: TopologySelectorTerm): Record<string, string[]> {
  return Object.fromEntries(
    (matchLabelExpressions ?? []).map(({ key, values }) => [key, [...new Set(values)].sort()]),
  );
}

function validateTerm({ matchLabelExpressions }: TopologySelectorTerm, at: FieldPath) {
  const keys = new Set<string>();
  return (matchLabelExpressions ?? []).flatMap(({ key, values = [] }, index) => {
    const valuesAt = at.index(index).child('values');
    const keyAt = at.index(index).child('key');
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

/** The class of claims that name none. */
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
    description: 'Who makes the volumes.',
    cell: (object) => object.provisioner ?? '',
  },
  {
    name: 'ReclaimPolicy',
    type: 'string',
    description: 'What becomes of a volume when its claim goes.',
    cell: (object) => object.reclaimPolicy ?? 'Delete',
  },
  {
    name: 'VolumeBindingMode',
    type: 'string',
    description: 'When a volume is made for a claim.',
    cell: (object) => object.volumeBindingMode ?? 'Immediate',
  },
  {
    name: 'AllowVolumeExpansion',
    type: 'string',
    description: 'Whether volumes may grow.',
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
  validate: validateStorageClass,
  validateUpdate: validateStorageClassUpdate,
  deleteReturnsObject: true,
  columns,
});
