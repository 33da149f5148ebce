/**
 * A custom resource's schema, made into functions once: what is known of its objects and what is asked of
 * them. Pure; what works in place says so.
 */
import { type FieldError, FieldPath, type JsonObject, type Shape } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { resourceShape } from './apply-shape.js';
import { checkErrors, compileCheck } from './check-values.js';
import { fillDefaults } from './defaults.js';
import { coerceEmbedded, embeddedErrors } from './embedded-resources.js';
import { addErrors } from './field-errors.js';
import { keyedListErrors } from './keyed-lists.js';
import { type EnvelopeSchemas, type OpenApiVersion, publishedResource } from './openapi.js';
import { pruneNulls, pruneUnknown } from './prune.js';
import { asResource, structuralOf } from './structural.js';

export interface StructuralSchema {
  /**
   * Everything asked of an object but the rules of its own metadata: the schema, embedded resources, then
   * elements of lists that must be told apart, unless `old`, what is stored, broke that rule already.
   * Fields are relative to `at`.
   */
  validate(value: unknown, at?: FieldPath, old?: unknown): FieldError[];
  /**
   * Drops, in place, fields that the schema does not know, unless they are preserved, and nulls that may not
   * be and that no default replaces. The object's own apiVersion, kind and metadata stay.
   */
  prune(object: JsonObject): void;
  /**
   * Brings apiVersion, kind and metadata of embedded resources into their form, in place. What does not fit
   * is reported, or dropped with `dropInvalid`: for what is stored.
   */
  coerceMetadata(object: JsonObject, dropInvalid: boolean): FieldError[];
  /** Fills in what is absent, in place. */
  applyDefaults(object: JsonObject): void;
  /** Whether `applyDefaults` may change anything. */
  readonly hasDefaults: boolean;
  /** The published schema of the objects, without group, version and kind. */
  openApi(version: OpenApiVersion, envelope: EnvelopeSchemas): JsonObject;
  /** For apply. */
  readonly shape: Shape;
}

const root = new FieldPath('');

/**
 * Without a schema everything is allowed and kept. Objects are nested no deeper than `objectDepthMax`, to
 * which decoding keeps them.
 */
export function compileSchema(
  schema: JSONSchemaProps | undefined,
  preserveUnknownFields: boolean,
): StructuralSchema {
  const structural = schema && structuralOf(schema);
  const resource = structural && asResource(structural);
  const check = schema && compileCheck(schema);
  return {
    validate(value, at = root, old) {
      const errors = check ? checkErrors(check, value, at) : [];
      addErrors(errors, embeddedErrors(value, structural, at));
      const isStored = old !== undefined && keyedListErrors(old, structural, at).length > 0;
      if (!isStored) addErrors(errors, keyedListErrors(value, structural, at));
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
