/** CSINode: the storage drivers on a node, and their names for the node. */
import {
  checkQualifiedName,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { CSINode, CSINodeDriver } from '@orch/types/storage/v1';
import { validateDriverName } from '../core/volume/volume-sources.js';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { dropEmptyLists } from '../shared/empty-lists.js';
import { checkNotNegative, invalidEach } from '../shared/rules.js';
import { storageGroup, storageVersions } from './versions.js';

const nodeIdLengthMax = 128;
/** The limit if the stored value is already longer than the regular limit. */
const longNodeIdLengthMax = 192;

const driversOf = (object: CSINode | undefined) => object?.spec?.drivers ?? [];

function dropEmpty({ spec }: CSINode): void {
  if (spec) dropEmptyLists(spec, 'drivers');
}

function validateNode(object: CSINode, old?: CSINode): FieldError[] {
  const isLong = driversOf(old).some(({ nodeID }) => Buffer.byteLength(nodeID) > nodeIdLengthMax);
  const lengthMax = isLong ? longNodeIdLengthMax : nodeIdLengthMax;
  const names = new Set<string>();
  return driversOf(object).flatMap((driver, index) => {
    const fieldPath = path('spec', 'drivers').index(index);
    const errors = [
      ...validateDriverName(driver.name, fieldPath.child('name')),
      ...validateNodeId(driver.nodeID, lengthMax, fieldPath.child('nodeID')),
      ...checkNotNegative(driver.allocatable?.count, fieldPath.child('allocatable', 'count')),
    ];
    if (names.has(driver.name))
      errors.push(fieldError.duplicate(fieldPath.child('name'), driver.name));
    names.add(driver.name);
    return [...errors, ...validateTopologyKeys(driver, fieldPath)];
  });
}

function validateNodeId(id: string, lengthMax: number, fieldPath: FieldPath): FieldError[] {
  if (!id) return [fieldError.required(fieldPath)];
  return Buffer.byteLength(id) > lengthMax
    ? [fieldError.invalid(fieldPath, id, `must be ${lengthMax} characters or less`)]
    : [];
}

/** Errors name the driver. */
function validateTopologyKeys(
  { topologyKeys = [] }: CSINodeDriver,
  fieldPath: FieldPath,
): FieldError[] {
  return topologyKeys.flatMap((key, index) => [
    ...(key === '' ? [fieldError.required(fieldPath)] : []),
    ...(topologyKeys.indexOf(key) < index ? [fieldError.duplicate(fieldPath, key)] : []),
    ...invalidEach(fieldPath, topologyKeys, checkQualifiedName(key)),
  ]);
}

/** Entries of a driver are immutable; drivers may be added and removed. */
function validateNodeUpdate(object: CSINode, old: CSINode): FieldError[] {
  const before = new Map(driversOf(old).map((driver) => [driver.name, driver]));
  const changed = driversOf(object).filter((driver) => {
    const held = before.get(driver.name);
    return held && !semanticallyEqual(held, driver);
  });
  // Upstream reports the object's errors twice.
  return [
    ...validateNode(object, old),
    ...validateNode(object, old),
    ...changed.map((driver) => immutable(path('CSINodeDriver'), driver)),
  ];
}

export const csiNode = define<CSINode>({
  plural: 'csinodes',
  singular: '',
  kind: 'CSINode',
  namespaced: false,
  versions: storageVersions('CSINode', '1.17'),
  stored: { group: storageGroup, version: 'v1' },
  prepareForCreate: dropEmpty,
  prepareForUpdate: dropEmpty,
  validateCreate: (object) => validateNode(object),
  validateUpdate: validateNodeUpdate,
  updateChecks: ['metadata', 'metadata', 'update'],
  unconditionalUpdate: false,
  deleteReturnsObject: true,
  columns: [
    nameColumn(),
    {
      name: 'Drivers',
      type: 'integer',
      description: 'Number of drivers on the node.',
      cell: (object) => driversOf(object).length,
    },
    ageColumn(),
  ],
});
