/**
 * Embedded resources: their apiVersion, kind and metadata follow the rules of any object, whatever
 * the schema says.
 */
import {
  checkDns1035Label,
  codecFor,
  type FieldError,
  type FieldPath,
  fieldError,
  isJsonObject,
  type Json,
  type JsonObject,
  pathSegmentName,
  SchemaError,
  setKey,
  validateObjectMeta,
} from '@orch/apimachinery';
import type { ObjectMeta } from '@orch/types/meta/v1';
import { addErrors } from '../common/field-errors.js';
import { reportedValue } from '../common/value-text.js';
import { memberOf, type Structural } from './structural.js';

/** Validates the embedded resources of a value. */
export function embeddedErrors(
  value: unknown,
  structural: Structural | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  if (!structural?.hasEmbedded || typeof value !== 'object') return [];
  const errors: FieldError[] = [];
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      addErrors(errors, embeddedErrors(element, structural.items, fieldPath.index(index)));
    }
  } else if (isJsonObject(value)) {
    if (structural.extensions.embeddedResource) addErrors(errors, envelopeErrors(value, fieldPath));
    for (const name of Object.keys(value)) {
      const field = structural.properties.has(name) ? fieldPath.child(name) : fieldPath.key(name);
      addErrors(errors, embeddedErrors(value[name], memberOf(structural, name), field));
    }
  }
  return errors;
}

function envelopeErrors(resource: JsonObject, fieldPath: FieldPath): FieldError[] {
  return [
    ...identifierErrors(resource, 'apiVersion', fieldPath, apiVersionFault),
    ...identifierErrors(resource, 'kind', fieldPath, kindFault),
    ...metadataErrors(resource, fieldPath.child('metadata')),
  ];
}

function identifierErrors(
  resource: JsonObject,
  name: 'apiVersion' | 'kind',
  fieldPath: FieldPath,
  faultOf: (text: string) => string | undefined,
): FieldError[] {
  const field = fieldPath.child(name);
  if (!Object.hasOwn(resource, name)) return [fieldError.required(field, 'must not be empty')];
  const value = resource[name];
  if (typeof value !== 'string') {
    return [fieldError.invalid(field, reportedValue(value), 'must be a string')];
  }
  const fault = value === '' ? 'must not be empty' : faultOf(value);
  return fault === undefined ? [] : [fieldError.invalid(field, value, fault)];
}

function apiVersionFault(text: string): string | undefined {
  return text.split('/').length > 2 ? `unexpected GroupVersion string: ${text}` : undefined;
}

function kindFault(text: string): string | undefined {
  const messages = checkDns1035Label(text.toLowerCase());
  if (messages.length === 0) return undefined;
  return `may have mixed case, but should otherwise match: ${messages.join(',')}`;
}

/** A name is not required: it may be set later. */
function metadataErrors(resource: JsonObject, fieldPath: FieldPath): FieldError[] {
  const read = readMetadata(resource);
  if (read === undefined) return [];
  if (read instanceof SchemaError) return [metadataFault(resource, fieldPath, read)];
  const named = { ...read, name: read.name || 'unnamed' };
  const rules = {
    namespaced: Boolean(read.namespace),
    validateName: pathSegmentName,
    strictFinalizers: false,
  };
  return validateObjectMeta(named, rules, fieldPath);
}

function metadataFault(resource: JsonObject, fieldPath: FieldPath, error: SchemaError): FieldError {
  return fieldError.invalid(fieldPath, reportedValue(resource.metadata), error.message);
}

function readMetadata(resource: JsonObject): ObjectMeta | SchemaError | undefined {
  if (!Object.hasOwn(resource, 'metadata')) return undefined;
  try {
    return codecFor<ObjectMeta>('meta/v1.ObjectMeta').fromJson(resource.metadata);
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
}

/**
 * Normalises the envelopes of embedded resources in place: drops unknown metadata fields. Reports
 * invalid members, or drops them with `dropInvalid`.
 */
export function coerceEmbedded(
  value: Json,
  structural: Structural | undefined,
  dropInvalid: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  if (!structural?.hasEmbedded) return [];
  if (Array.isArray(value)) {
    return value.flatMap((element, index) =>
      coerceEmbedded(element, structural.items, dropInvalid, fieldPath.index(index)),
    );
  }
  if (!isJsonObject(value)) return [];
  const isResource = structural.extensions.embeddedResource === true;
  const errors = isResource ? coerceEnvelope(value, dropInvalid, fieldPath) : [];
  for (const name of Object.keys(value)) {
    const field = structural.properties.has(name) ? fieldPath.child(name) : fieldPath.key(name);
    addErrors(errors, coerceEmbedded(value[name]!, memberOf(structural, name), dropInvalid, field));
  }
  return errors;
}

function coerceEnvelope(
  resource: JsonObject,
  dropInvalid: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind']) {
    const value = resource[name];
    if (!Object.hasOwn(resource, name) || typeof value === 'string') continue;
    if (dropInvalid) delete resource[name];
    else
      errors.push(
        fieldError.invalid(fieldPath.child(name), reportedValue(value), 'must be a string'),
      );
  }
  const metadata = readMetadata(resource);
  if (!(metadata instanceof SchemaError)) {
    if (metadata) setKey(resource, 'metadata', withoutEmptyTime(metadata));
  } else if (dropInvalid) {
    resource.metadata = fittingMembers(resource.metadata);
  } else {
    errors.push(metadataFault(resource, fieldPath.child('metadata'), metadata));
  }
  return errors;
}

/** A resource that was never created has no creation time. */
function withoutEmptyTime({ creationTimestamp, ...rest }: ObjectMeta): JsonObject {
  return (creationTimestamp ? { ...rest, creationTimestamp } : rest) as JsonObject;
}

/** The valid members of metadata. */
function fittingMembers(metadata: Json | undefined): JsonObject {
  const fitting: JsonObject = {};
  if (!isJsonObject(metadata)) return fitting;
  for (const name of Object.keys(metadata)) {
    const read = readMetadata({ metadata: { [name]: metadata[name]! } });
    if (read && !(read instanceof SchemaError)) Object.assign(fitting, withoutEmptyTime(read));
  }
  return fitting;
}
