/** CSINode: the storage drivers on a node, and the names they know it by. */
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
import { validateDriverName } from '../core/volume-sources.js';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { dropEmptyLists } from '../shared/empty-lists.js';
import { checkNotNegative, invalidEach } from '../shared/rules.js';
import { storageGroup, storageVersions } from './versions.js';

const nodeIdLengthMax = 128;
/** Where the stored object is longer than that already. */
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
    const at = path('spec', 'drivers').index(index);
    const errors = [
      ...validateDriverName(driver.name, at.child('name')),
      ...validateNodeId(driver.nodeID, lengthMax, at.child('nodeID')),
      ...checkNotNegative(driver.allocatable?.count, at.child('allocatable', 'count')),
    ];
    if (names.has(driver.name)) errors.push(fieldError.duplicate(at.child('name'), driver.name));
    names.add(driver.name);
    return [...errors, ...validateTopologyKeys(driver, at)];
  });
}

function validateNodeId(id: string, lengthMax: number, at: FieldPath): FieldError[] {
  if (!id) return [fieldError.required(at)];
  return Buffer.byteLength(id) > lengthMax
    ? [fieldError.invalid(at, id, `must be ${lengthMax} characters or less`)]
    : [];
}

/** Errors name the driver. */
function validateTopologyKeys({ topologyKeys = [] }: CSINodeDriver, at: FieldPath): FieldError[] {
  return topologyKeys.flatMap((key, index) => [
    ...(key === '' ? [fieldError.required(at)] : []),
    ...(topologyKeys.indexOf(key) < index ? [fieldError.duplicate(at, key)] : []),
    ...invalidEach(at, topologyKeys, checkQualifiedName(key)),
  ]);
}

/** What a driver has said of the node stays; drivers come and go. */
function validateNodeUpdate(object: CSINode, old: CSINode): FieldError[] {
  const before = new Map(driversOf(old).map((driver) => [driver.name, driver]));
  const changed = driversOf(object).filter((driver) => {
    const held = before.get(driver.name);
    return held && !semanticallyEqual(held, driver);
  });
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
  // An update reports what is wrong with the object twice, as clients know it.
  validateUpdate: validateNodeUpdate,
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
