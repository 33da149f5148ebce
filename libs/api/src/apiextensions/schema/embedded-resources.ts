/**
 * Resources inside of resources: their apiVersion, kind and metadata follow the same rules as those of any
 * object, whatever the schema says of them.
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
import { addErrors } from './field-errors.js';
import { memberOf, type Structural } from './structural.js';
import { shown } from './value-text.js';

/** Rules of the embedded resources of a value. */
export function embeddedErrors(
  value: unknown,
  structural: Structural | undefined,
  at: FieldPath,
): FieldError[] {
  if (!structural?.hasEmbedded || typeof value !== 'object') return [];
  const errors: FieldError[] = [];
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      addErrors(errors, embeddedErrors(element, structural.items, at.index(index)));
    }
  } else if (isJsonObject(value)) {
    if (structural.extensions.embeddedResource) addErrors(errors, envelopeErrors(value, at));
    for (const name of Object.keys(value)) {
      const field = structural.properties.has(name) ? at.child(name) : at.key(name);
      addErrors(errors, embeddedErrors(value[name], memberOf(structural, name), field));
    }
  }
  return errors;
}

function envelopeErrors(resource: JsonObject, at: FieldPath): FieldError[] {
  return [
    ...identifierErrors(resource, 'apiVersion', at, apiVersionFault),
    ...identifierErrors(resource, 'kind', at, kindFault),
    ...metadataErrors(resource, at.child('metadata')),
  ];
}

function identifierErrors(
  resource: JsonObject,
  name: 'apiVersion' | 'kind',
  at: FieldPath,
  faultOf: (text: string) => string | undefined,
): FieldError[] {
  const field = at.child(name);
  if (!Object.hasOwn(resource, name)) return [fieldError.required(field, 'must not be empty')];
  const value = resource[name];
  if (typeof value !== 'string') {
    return [fieldError.invalid(field, shown(value), 'must be a string')];
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

/** A name is not asked for: it may come to be with the resource. */
function metadataErrors(resource: JsonObject, at: FieldPath): FieldError[] {
  const read = readMetadata(resource);
  if (read === undefined) return [];
  if (read instanceof SchemaError) return [metadataFault(resource, at, read)];
  const named = { ...read, name: read.name || 'unnamed' };
  const rules = {
    namespaced: Boolean(read.namespace),
    validateName: pathSegmentName,
    strictFinalizers: false,
  };
  return validateObjectMeta(named, rules, at);
}

function metadataFault(resource: JsonObject, at: FieldPath, error: SchemaError): FieldError {
  return fieldError.invalid(at, shown(resource.metadata), error.message);
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
 * Brings the envelopes of the embedded resources of a value into their form, in place: unknown fields of
 * metadata are dropped. What does not fit is reported, or dropped with `dropInvalid`.
 */
export function coerceEmbedded(
  value: Json,
  structural: Structural | undefined,
  dropInvalid: boolean,
  at: FieldPath,
): FieldError[] {
  if (!structural?.hasEmbedded) return [];
  if (Array.isArray(value)) {
    return value.flatMap((element, index) =>
      coerceEmbedded(element, structural.items, dropInvalid, at.index(index)),
    );
  }
  if (!isJsonObject(value)) return [];
  const isResource = structural.extensions.embeddedResource === true;
  const errors = isResource ? coerceEnvelope(value, dropInvalid, at) : [];
  for (const name of Object.keys(value)) {
    const field = structural.properties.has(name) ? at.child(name) : at.key(name);
    addErrors(errors, coerceEmbedded(value[name]!, memberOf(structural, name), dropInvalid, field));
  }
  return errors;
}

function coerceEnvelope(resource: JsonObject, dropInvalid: boolean, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind']) {
    const value = resource[name];
    if (!Object.hasOwn(resource, name) || typeof value === 'string') continue;
    if (dropInvalid) delete resource[name];
    else errors.push(fieldError.invalid(at.child(name), shown(value), 'must be a string'));
  }
  const metadata = readMetadata(resource);
  if (!(metadata instanceof SchemaError)) {
    if (metadata) setKey(resource, 'metadata', withoutEmptyTime(metadata));
  } else if (dropInvalid) {
    resource.metadata = fittingMembers(resource.metadata);
  } else {
    errors.push(metadataFault(resource, at.child('metadata'), metadata));
  }
  return errors;
}

/** A resource that was never created has no time of creation. */
function withoutEmptyTime({ creationTimestamp, ...rest }: ObjectMeta): JsonObject {
  return (creationTimestamp ? { ...rest, creationTimestamp } : rest) as JsonObject;
}

/** Those members of metadata that fit by themselves. */
function fittingMembers(metadata: Json | undefined): JsonObject {
  const fitting: JsonObject = {};
  if (!isJsonObject(metadata)) return fitting;
  for (const name of Object.keys(metadata)) {
    const read = readMetadata({ metadata: { [name]: metadata[name]! } });
    if (read && !(read instanceof SchemaError)) Object.assign(fitting, withoutEmptyTime(read));
  }
  return fitting;
}
