/**
 * A configuration document, decoded strictly: unknown fields, fields of another type and duplicate
 * keys are errors, because a misspelled limit would not limit anything.
 */
import { dirname } from 'node:path';
import { readConfigurationFile } from '@orch/apimachinery';
import { dialect, ValueError } from '@orch/component';

type FieldType = 'string' | 'number' | 'boolean' | 'list' | 'map';

/** The fields of a map and their types. */
export type FieldTypes = Readonly<Record<string, FieldType>>;

/** A map whose fields have been checked. */
export type CheckedMap = Readonly<Record<string, unknown>>;

/** A document and its origin. */
export interface ConfigurationDocument {
  readonly value: unknown;
  /** For messages. */
  readonly file: string;
  /** Relative paths in the document start here. */
  readonly directory: string;
}

/** Reads YAML or JSON. Throws ValueError. */
export function readDocument(file: string): ConfigurationDocument {
  return { value: readConfigurationFile(file), file, directory: dirname(file) };
}

/** Checks the fields of a map. `path` is empty for the document itself. */
export function checkedMap(
  { file }: ConfigurationDocument,
  value: unknown,
  path: string,
  types: FieldTypes,
): CheckedMap {
  if (typeOf(value) !== 'map') {
    throw new ValueError(`${file}: ${path || 'the document'} is not a map`);
  }
  const checked: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value as object)) {
    const field = path === '' ? name : `${path}.${name}`;
    const expected = Object.hasOwn(types, name) ? types[name] : undefined;
    if (expected === undefined) {
      throw new ValueError(`${file}: unknown field ${field}`);
    }
    if (member === null || member === undefined) continue;
    if (typeOf(member) !== expected) {
      throw new ValueError(`${file}: ${field} is not a ${expected}`);
    }
    checked[name] = member;
  }
  return checked;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' && value !== null ? 'map' : typeof value;
}

/** Checks type and fields of a versioned document; versions have the same fields. */
export function checkedObject(
  document: ConfigurationDocument,
  kind: string,
  versions: readonly (readonly [groupHead: string, version: string])[],
  types: FieldTypes,
): CheckedMap {
  const { value, file } = document;
  const all: FieldTypes = { apiVersion: 'string', kind: 'string', ...types };
  const supported = versions.map(([head, version]) => dialect().apiVersion(head, version));
  const { apiVersion = '', kind: given = '' } = (value ?? {}) as {
    apiVersion?: unknown;
    kind?: unknown;
  };
  if (given !== kind || !supported.includes(String(apiVersion))) {
    throw new ValueError(`${file}: not a ${kind} of ${supported.join(', ')}`);
  }
  return checkedMap(document, value, '', all);
}
