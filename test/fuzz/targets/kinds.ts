/**
 * The functions of kinds on an object that fits its type: defaults, conversion, preparation, rules,
 * rows, stored bytes. None may throw, however senseless the object: rules return errors as a list.
 */
import assert from 'node:assert/strict';
import type { ApiObject, ResourceDefinition } from '@orch/api';
import { codecFor, fieldErrorMessage, invalid, SchemaError } from '@orch/apimachinery';
import fc from 'fast-check';
import { createErrors, updateErrors } from '../../../libs/api/src/shared/write-checks.js';
import { allocationContext, requestContext } from '../../../libs/api/src/testing/write.js';
import { listedErrors } from '../../../libs/registry/src/objects/listed-errors.js';
import { storedBytes } from '../../../libs/registry/src/objects/object-bytes.js';
import {
  prepareMetadataForCreate,
  prepareMetadataForUpdate,
} from '../../../libs/registry/src/objects/object-metadata.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { toStoredShape } from '../../../libs/registry/src/table/stored-shape.js';
import { jsonText } from '../inputs/json.js';
import { changedObject, isKnown, realisticObject, withServed } from '../inputs/objects.js';
import { decodedOrRefused, type Target, target } from '../target.js';
import { checkInherited, doneOrRefused } from './refusals.js';

const nowMs = Date.parse('2026-01-02T03:04:05Z');

/** The object as the registry receives it, or undefined if it does not fit the type. */
function decoded(served: ServedResource, value: unknown): ApiObject | undefined {
  const object = decodedOrRefused(
    () => served.codec.fromJson(JSON.parse(jsonText(value))),
    SchemaError,
    SyntaxError,
  );
  return object && toStoredShape(served, object);
}

/** Whether the object is valid, so that the server would store it. */
function created(served: ServedResource, object: ApiObject): boolean {
  const { definition } = served;
  const context = requestContext(served.served);
  prepareMetadataForCreate(object, definition, 'uid', nowMs);
  definition.prepareForCreate?.(object, context);
  definition.prepareNamed?.(object, undefined, context);
  const errors = doneOrRefused(() => listedErrors(() => createErrors(object, definition, context)));
  if (!errors || errors.length > 0) {
    if (errors) assert.equal(invalid(served.groupKind, 'a', errors).code, 422);
    return false;
  }
  definition.warnings?.(object);
  doneOrRefused(() => definition.allocate?.(object, undefined, allocationContext()));
  return true;
}

/** The functions that read a stored object. */
function read(definition: ResourceDefinition, served: ServedResource, object: ApiObject): void {
  for (const column of definition.columns) column.cell(object, nowMs);
  definition.rowConditions?.(object);
  for (const value of Object.values(definition.selectableFields ?? {})) {
    assert.equal(typeof value(object), 'string');
  }
  definition.specFinalizers?.(object);
  definition.scale?.selector(object);
  definition.scale?.replicas(object);
  definition.deletionGracePeriodSeconds?.(object, undefined);
  const bytes = storedBytes(served.resource, object);
  const stored = JSON.parse(bytes.toString()) as ApiObject;
  const { group, version } = definition.stored;
  const storedCodec = codecFor<ApiObject>(`${group}/${version}.${definition.kind}`);
  const back = storedCodec.fromJson(stored);
  const { resourceVersion: _, ...metadata } = object.metadata ?? {};
  assert.equal(storedCodec.toJson(back), storedCodec.toJson({ ...object, metadata }));
  codecFor<ApiObject>(served.codec.name).toJson(served.fromStored(back));
}

function updated(served: ServedResource, object: ApiObject, old: ApiObject): void {
  const { definition } = served;
  const context = requestContext(served.served);
  prepareMetadataForUpdate(object, old);
  definition.prepareForUpdate?.(object, old, context);
  const errors = doneOrRefused(() =>
    listedErrors(() => updateErrors(object, old, definition, context)),
  );
  errors?.map(fieldErrorMessage);
}

function statusWritten(served: ServedResource, object: ApiObject, old: ApiObject): void {
  const context = requestContext(served.served);
  for (const part of [served.definition.status, served.definition.finalize]) {
    const next = structuredClone(object);
    part?.prepareForUpdate?.(next, old, context);
    listedErrors(() => part?.validateUpdate?.(next, old, context) ?? []).map(fieldErrorMessage);
  }
}

export const kindTargets: readonly Target[] = [
  target(
    'kinds',
    withServed((served) => fc.tuple(changedObject(served), changedObject(served))),
    ({ served, input: [first, second] }) => {
      const { definition } = served;
      const object = decoded(served, first);
      if (object && created(served, object)) read(definition, served, object);
      const old = decoded(served, realisticObject(served))!;
      const isRight = created(served, old) || definition.validateCreate !== undefined;
      assert.ok(isRight || !isKnown(served), `${served.kind} is right`);
      const next = decoded(served, second);
      if (next && isRight) {
        updated(served, structuredClone(next), old);
        statusWritten(served, next, old);
      }
      checkInherited();
    },
    { share: 0.25 },
  ),
];
