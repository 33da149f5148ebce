/**
 * Request bodies as objects: format, kind and version checked, unknown fields dropped, defaults
 * filled in, converted to the stored shape. Refusals are worded as clients of the interface know
 * them.
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
import type { ObjectCodec, ServedResource } from '@orch/registry';
import { unknownFields } from '@orch/registry';
import { YAMLError } from 'yaml';
import type { Format } from './accept.js';
import type { FieldCheck } from './field-validation.js';
import { parseYamlText } from './parse-yaml.js';

/** What a body is expected to hold. */
export interface Expected<T extends object = ApiObject> {
  readonly apiVersion: string;
  readonly kind: string;
  /** Head of the kind's group, as refusals name it. */
  readonly groupHead: string;
  readonly codec: ObjectCodec<T>;
  /** A custom resource: its body declares its kind, and it has no protobuf form. */
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

function unrecognized(expected: Expected<object>, detail: string): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${expected.kind}): ${detail}`,
  );
}

function parseText(body: Buffer, format: 'json' | 'yaml', expected: Expected<object>): unknown {
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

function fieldText(
  value: Record<string, unknown>,
  field: string,
  expected: Expected<object>,
): string {
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

function checkKind(apiVersion: string, kind: string, expected: Expected<object>): void {
  if (apiVersion === expected.apiVersion && kind === expected.kind) return;
  if (kind === expected.kind && expected.alsoTakes?.(apiVersion)) return;
  const registered = kindNamed(apiVersion, kind);
  if (!registered) {
    throw cannotBeHandled(
      kind,
      apiVersion,
      expected.kind,
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "api"`,
    );
  }
  if (kind !== expected.kind || registered.groupHead !== expected.groupHead) {
    throw cannotBeHandled(
      kind,
      apiVersion,
      expected.kind,
      `converting (${registered.version}.${kind}) to (${packageName(expected.groupHead)}.${expected.kind}): unknown conversion`,
    );
  }
  throw otherVersion(apiVersion, expected);
}

function otherVersion(apiVersion: string, expected: Expected<object>): Error {
  return badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`,
  );
}

/** The first part of a group's name, as in `rbac` for `rbac.authorization`. */
function packageName(groupHead: string): string {
  return groupHead.split('.')[0] ?? groupHead;
}

/** An object of the expected kind from a body. Throws 400. */
export function decodeBody<T extends object>(
  body: Buffer,
  format: Format,
  expected: Expected<T>,
  check?: FieldCheck,
): T {
  if (format === 'protobuf') return decodeProtobuf(body, expected);
  const parsed = parseText(body, format, expected);
  if (expected.isCustom) checkCustomKind(parsed, body, expected);
  return decodePlain(parsed, expected, check);
}

/** Requires a custom resource to declare its kind. Throws 400 and 422. */
function checkCustomKind(parsed: unknown, body: Buffer, expected: Expected<object>): void {
  if (!isJsonObject(parsed)) return;
  const kind = fieldText(parsed, 'kind', expected);
  const apiVersion = fieldText(parsed, 'apiVersion', expected);
  if (kind === '') {
    throw cannotBeHandled(
      expected.kind,
      apiVersion || expected.apiVersion,
      expected.kind,
      `Object 'Kind' is missing in '${body.toString('utf8', 0, quotedBytesMax)}'`,
    );
  }
  if (apiVersion !== '' && apiVersion !== expected.apiVersion) {
    throw otherVersion(apiVersion, expected);
  }
  checkCustomType(parsed, expected);
}

/** Throws 422 for a custom resource that says it is something else. */
export function checkCustomType(object: JsonObject, expected: Expected<object>): void {
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

const quotedBytesMax = 1_024;

/** Warns about or rejects unknown fields, as the client has requested. Throws 400. */
export function checkFields(value: unknown, expected: Expected<object>, check: FieldCheck): void {
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

function decodePlain<T extends object>(
  parsed: unknown,
  expected: Expected<T>,
  check?: FieldCheck,
): T {
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

function decodeProtobuf<T extends object>(body: Buffer, expected: Expected<T>): T {
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

/** Any apiVersion a DeleteOptions body may carry: it belongs to every group. */
export function deleteOptionsExpected<T extends object>(codec: ObjectCodec<T>): Expected<T> {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    groupHead: 'core',
    codec,
    alsoTakes: (apiVersion) =>
      apiVersion.startsWith(`${dialect().metaGroup}/`) || /\/v\d/.test(apiVersion),
  };
}
