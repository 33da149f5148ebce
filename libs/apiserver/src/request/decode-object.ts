/**
 * Request bodies as objects: format, kind and version checked, unknown fields dropped, defaults filled
 * in, converted to the stored shape. Refusals are worded as clients of the interface know them.
 */
import type { ApiObject } from '@orch/api';
import {
  badRequest,
  fieldError,
  invalid,
  isJsonObject,
  type JsonObject,
  kindNamed,
  SchemaError,
  unwrapUnknown,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { YAMLError } from 'yaml';
import type { ObjectCodec } from '../registry/object-codec.js';
import type { ServedResource } from '../registry/resource.js';
import type { Format } from './media-types.js';
import { parseYamlText } from './parse-yaml.js';
import { type FieldValidation, unknownFields } from './unknown-fields.js';

/** What a body is expected to hold. */
export interface Expected {
  readonly apiVersion: string;
  readonly kind: string;
  /** Head of the kind's group, as refusals name it. */
  readonly groupHead: string;
  readonly codec: ObjectCodec;
  /** A custom resource: it says of itself what it is, and has no protobuf form. */
  readonly isCustom?: boolean;
  /** Further apiVersions that are taken as well. */
  readonly alsoTakes?: (apiVersion: string) => boolean;
}

export function expectedOf(served: ServedResource): Expected {
  return {
    apiVersion: served.apiVersion,
    kind: served.kind,
    groupHead: served.served.group,
    codec: served.codec,
    isCustom: served.definition.custom !== undefined,
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unrecognized(expected: Expected, detail: string): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${expected.kind}): ${detail}`,
  );
}

function parseText(body: Buffer, format: 'json' | 'yaml', expected: Expected): unknown {
  const text = body.toString();
  try {
    return format === 'json' ? JSON.parse(text) : parseYamlText(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw unrecognized(expected, `couldn't get version/kind; json parse error: ${error.message}`);
    }
    if (error instanceof YAMLError) throw unrecognized(expected, error.message);
    throw error;
  }
}

function fieldText(value: Record<string, unknown>, field: string, expected: Expected): string {
  const text = value[field];
  if (text === undefined || text === null) return '';
  if (typeof text === 'string') return text;
  throw unrecognized(
    expected,
    `couldn't get version/kind; json parse error: ${field} is not a string`,
  );
}

/** `Pod in version "v1" cannot be handled as a Eviction: ...` */
function cannotBeHandled(kind: string, apiVersion: string, expected: string, why: string): Error {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  return badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected}: ${why}`,
  );
}

function checkKind(apiVersion: string, kind: string, expected: Expected): void {
  if (apiVersion === expected.apiVersion && kind === expected.kind) return;
  if (kind === expected.kind && expected.alsoTakes?.(apiVersion)) return;
  const known = kindNamed(apiVersion, kind);
  if (!known) {
    throw cannotBeHandled(
      kind,
      apiVersion,
      expected.kind,
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "api"`,
    );
  }
  if (kind !== expected.kind || known.groupHead !== expected.groupHead) {
    throw cannotBeHandled(
      kind,
      apiVersion,
      expected.kind,
      `converting (${known.version}.${kind}) to (${packageName(expected.groupHead)}.${expected.kind}): unknown conversion`,
    );
  }
  throw otherVersion(apiVersion, expected);
}

function otherVersion(apiVersion: string, expected: Expected): Error {
  return badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`,
  );
}

/** The last part of a group's name stands for it: `rbac.authorization` -> `rbac`. */
function packageName(groupHead: string): string {
  return groupHead.split('.')[0] ?? groupHead;
}

/** What to do about fields that the type does not have. */
export interface FieldCheck {
  readonly mode: FieldValidation;
  /** Takes the warnings. */
  readonly warnings: string[];
}

/** An object of the expected kind from a body. Throws 400. */
export function decodeBody(
  body: Buffer,
  format: Format,
  expected: Expected,
  check?: FieldCheck,
): ApiObject {
  if (format === 'protobuf') return decodeProtobuf(body, expected);
  const parsed = parseText(body, format, expected);
  if (expected.isCustom) checkCustomKind(parsed, body, expected);
  return decodePlain(parsed, expected, check);
}

/** Nothing is taken for granted of a custom resource. Throws 400 and 422. */
function checkCustomKind(parsed: unknown, body: Buffer, expected: Expected): void {
  if (!isJsonObject(parsed)) return;
  const kind = fieldText(parsed, 'kind', expected);
  const apiVersion = fieldText(parsed, 'apiVersion', expected);
  if (kind === '') {
    throw cannotBeHandled(
      expected.kind,
      apiVersion || expected.apiVersion,
      expected.kind,
      `Object 'Kind' is missing in '${body.toString('utf8', 0, shownBytesMax)}'`,
    );
  }
  if (apiVersion !== '' && apiVersion !== expected.apiVersion) {
    throw otherVersion(apiVersion, expected);
  }
  checkCustomType(parsed, expected);
}

/** Throws 422 for a custom resource that says it is something else. */
export function checkCustomType(object: JsonObject, expected: Expected): void {
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const kind = text(object.kind);
  const apiVersion = text(object.apiVersion);
  if (kind === expected.kind && apiVersion === expected.apiVersion) return;
  const refusal =
    kind !== expected.kind
      ? fieldError.invalid('kind', kind, `must be ${expected.kind}`)
      : fieldError.invalid('apiVersion', apiVersion, `must be ${expected.apiVersion}`);
  const name = isJsonObject(object.metadata) ? text(object.metadata.name) : '';
  const [group = ''] = expected.apiVersion.split('/');
  throw invalid({ group, kind }, name, [refusal]);
}

const shownBytesMax = 1_024;

/** Warns or refuses as the client asked. Throws 400. */
export function checkFields(value: unknown, expected: Expected, check: FieldCheck): void {
  if (check.mode === 'Ignore') return;
  const { codec } = expected;
  const names = codec.unknownFields?.(value) ?? unknownFields(codec.name, value);
  const unknown = names.map((field) => `unknown field ${JSON.stringify(field)}`);
  if (unknown.length === 0) return;
  if (check.mode === 'Warn') check.warnings.push(...unknown);
  else {
    throw cannotBeHandled(
      expected.kind,
      expected.apiVersion,
      expected.kind,
      `strict decoding error: ${unknown.join(', ')}`,
    );
  }
}

function decodePlain(parsed: unknown, expected: Expected, check?: FieldCheck): ApiObject {
  const value = parsed === null || parsed === undefined ? {} : parsed;
  if (!isRecord(value)) {
    throw unrecognized(expected, "couldn't get version/kind; json parse error: not an object");
  }
  const kind = fieldText(value, 'kind', expected) || expected.kind;
  const apiVersion = fieldText(value, 'apiVersion', expected) || expected.apiVersion;
  checkKind(apiVersion, kind, expected);
  if (check) checkFields(value, expected, check);
  try {
    return expected.codec.fromJson(value);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw cannotBeHandled(kind, apiVersion, expected.kind, error.message);
  }
}

function decodeProtobuf(body: Buffer, expected: Expected): ApiObject {
  try {
    const unknown = unwrapUnknown(body);
    const kind = unknown.kind || expected.kind;
    const apiVersion = unknown.apiVersion || expected.apiVersion;
    if (expected.isCustom) {
      throw cannotBeHandled(
        kind,
        apiVersion,
        expected.kind,
        "Object 'Kind' is missing in 'object has no kind field '",
      );
    }
    checkKind(apiVersion, kind, expected);
    return expected.codec.fromProtobuf(unknown.raw);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw unrecognized(expected, error.message);
  }
}

/** Fills defaults in and converts; `object` is in the shape of `served` and changed. */
export function toStoredShape(served: ServedResource, object: ApiObject): ApiObject {
  served.codec.setDefaults(object);
  served.served.setDefaults?.(object, served.features);
  return served.toStored(object);
}

/** Any apiVersion a DeleteOptions body may carry: it belongs to every group. */
export function deleteOptionsExpected(codec: ObjectCodec): Expected {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    groupHead: 'core',
    codec,
    alsoTakes: (apiVersion) =>
      apiVersion.startsWith(`${dialect().metaGroup}/`) || /\/v\d/.test(apiVersion),
  };
}
