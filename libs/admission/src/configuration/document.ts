/**
 * A configuration document, decoded strictly: unknown fields, fields of another type and duplicate
 * keys are errors, because a misspelled limit would not limit anything.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isMergeFault, yamlReadOptions } from '@orch/apimachinery';
import { dialect, errorMessage, ValueError } from '@orch/component';
import { parse, YAMLError } from 'yaml';
import { configurationAliasesMax, configurationBytesMax } from '../limits.js';

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
  return { value: parseText(textOf(file), file), file, directory: dirname(file) };
}

function textOf(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > configurationBytesMax) throw new Error(`larger than ${configurationBytesMax} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ValueError(`cannot read ${file}: ${errorMessage(error)}`);
  }
}

function parseText(text: string, file: string): unknown {
  try {
    return parse(text, {
      ...yamlReadOptions(configurationAliasesMax),
      uniqueKeys: true,
      maxAliasCount: configurationAliasesMax,
    });
  } catch (error) {
    const isFault =
      error instanceof YAMLError || error instanceof ReferenceError || isMergeFault(error);
    if (!isFault) throw error;
    throw new ValueError(`${file}: ${error.message.split('\n', 1)[0]}`);
  }
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
