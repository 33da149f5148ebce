/**
 * Compiles the schema of a custom resource to functions. Pure; functions that mutate in place say
 * so.
 */
import {
  type FieldError,
  type FieldPath,
  type JsonObject,
  path,
  type Shape,
} from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { addErrors } from './common/field-errors.js';
import { type EnvelopeSchemas, type OpenApiVersion, publishedResource } from './openapi.js';
import { resourceShape } from './structural/apply-shape.js';
import { fillDefaults } from './structural/defaults.js';
import { coerceEmbedded, embeddedErrors } from './structural/embedded-resources.js';
import { keyedListErrors } from './structural/keyed-lists.js';
import { pruneNulls, pruneUnknown } from './structural/prune.js';
import { asResource, structuralOf } from './structural/structural.js';
import { checkErrors, compileCheck } from './values/check-values.js';

export interface StructuralSchema {
  /**
   * Validates everything but the object's own metadata: the schema, embedded resources, then
   * duplicate list elements, unless `old` (the stored object) already has duplicates. Fields are
   * relative to `at`.
   */
  validate(value: unknown, fieldPath?: FieldPath, old?: unknown): FieldError[];
  /**
   * Removes, in place, unknown fields that are not preserved, and nulls that are neither allowed
   * nor replaced by a default. The object's own apiVersion, kind and metadata stay.
   */
  prune(object: JsonObject): void;
  /**
   * Normalises apiVersion, kind and metadata of embedded resources in place. Reports invalid
   * members, or drops them with `dropInvalid`, which is for stored objects.
   */
  coerceMetadata(object: JsonObject, dropInvalid: boolean): FieldError[];
  /** Sets defaults in place. */
  applyDefaults(object: JsonObject): void;
  /** Whether `applyDefaults` may change anything. */
  readonly hasDefaults: boolean;
  /** The published schema of the objects, without group, version and kind. */
  openApi(version: OpenApiVersion, envelope: EnvelopeSchemas): JsonObject;
  /** The shape for apply. */
  readonly shape: Shape;
}

const root = path();

/**
 * Without a schema, every field is allowed and preserved. Decoding limits the depth of objects to
 * `objectDepthMax`.
 */
export function compileSchema(
  schema: JSONSchemaProps | undefined,
  preserveUnknownFields: boolean,
): StructuralSchema {
  const structural = schema && structuralOf(schema);
  const resource = structural && asResource(structural);
  const check = schema && compileCheck(schema);
  return {
    validate(value, fieldPath = root, old) {
      const errors = check ? checkErrors(check, value, fieldPath) : [];
      addErrors(errors, embeddedErrors(value, structural, fieldPath));
      const isStored = old !== undefined && keyedListErrors(old, structural, fieldPath).length > 0;
      if (!isStored) addErrors(errors, keyedListErrors(value, structural, fieldPath));
      return errors;
    },
    prune(object) {
      if (!resource || preserveUnknownFields) return;
      pruneUnknown(object, resource);
      pruneNulls(object, resource);
    },
    coerceMetadata: (object, dropInvalid) => coerceEmbedded(object, structural, dropInvalid, root),
    applyDefaults: (object) => fillDefaults(object, structural),
    hasDefaults: structural?.hasDefaults === true,
    openApi: (version, envelope) =>
      publishedResource(schema, version, preserveUnknownFields, envelope),
    shape: resourceShape(structural, preserveUnknownFields),
  };
}
