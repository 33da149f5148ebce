/** Bodies of apply: one YAML or JSON document, as an object that matches its type. */
import {
  badRequest,
  checkTyped,
  isJsonObject,
  type Json,
  type JsonObject,
  type Shape,
  StatusError,
  TypedError,
} from '@orch/apimachinery';
import { YAMLError } from 'yaml';
import { parseYamlText } from './parse-yaml.js';

const notAnObject =
  'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into Go value of type map[string]interface {}';

function decoding(detail: string): Error {
  return badRequest(`error decoding YAML: ${detail}`);
}

/** Throws 400 if the text is not an object. */
export function parseConfig(text: string): JsonObject {
  const value = parsed(text);
  if (value === null || value === undefined) return {};
  if (isJsonObject(value)) return value;
  const kind = Array.isArray(value) ? 'array' : typeof value;
  throw decoding(notAnObject.replace('%s', kind === 'boolean' ? 'bool' : kind));
}

function parsed(text: string): Json | undefined {
  // JSON is parsed as JSON, which is many times faster.
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text) as Json;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  try {
    return plain(parseYamlText(text));
  } catch (error) {
    if (!(error instanceof YAMLError)) throw error;
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw decoding(`error converting YAML to JSON: yaml: line ${line}: ${wordsFor(error)}`);
  }
}

/** YAML values that JSON lacks, such as binary values and infinities, become text or null. */
function plain(value: unknown): Json | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json);
}

/** The upstream wording of an error, if clients know it. */
function wordsFor(error: YAMLError): string {
  if (error.message.startsWith('Flow sequence')) return "did not find expected ',' or ']'";
  if (error.message.startsWith('Flow map')) return "did not find expected ',' or '}'";
  return error.message.split('\n', 1)[0] ?? '';
}

/** The object that a configuration is for. */
export interface ConfigTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly shape: Shape;
  /** Custom resources have a different error wording. */
  readonly isCustom?: boolean;
}

/** Values other than text are omitted from the message. */
function textOf(value: Json): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Throws 400 for another version or kind, for managed fields and for values that do not match the
 * type.
 */
export function checkConfig(config: JsonObject, target: ConfigTarget): void {
  const { apiVersion = '', kind = '' } = config;
  if (apiVersion !== target.apiVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${textOf(apiVersion)}, expected: ${target.apiVersion}`,
    );
  }
  const { metadata } = config;
  if (isJsonObject(metadata) && (metadata.managedFields ?? null) !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  if (kind !== target.kind) {
    throw badRequest(
      `failed to create typed patch object: expected kind ${target.kind}, got ${JSON.stringify(textOf(kind))}`,
    );
  }
  try {
    checkTyped(target.shape, config);
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    const message = `failed to create typed patch object: ${error.message}`;
    throw target.isCustom ? new StatusError({ code: 500, message }) : badRequest(message);
  }
}
