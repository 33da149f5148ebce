/**
 * Merges the documents of aggregated API servers into our own, version 2. A path of several servers
 * is that of the first. Definitions of the same name and content are one, others get a new name.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '@orch/apimachinery';
import type { Piece } from './document.js';
import { foreignPath } from './foreign-paths.js';
import { foreignSchema } from './foreign-schema.js';
import type { Schema } from './schema-types.js';

/** The version 2 document of a server, and the group whose paths it may describe. */
export interface ForeignDocument {
  readonly group: string;
  readonly value: unknown;
}

interface AddedDefinition {
  /** With the references of its own document. */
  readonly original: Schema;
  /** With the references of the merged document. */
  readonly value: Schema;
}

/** `own`: the pieces of our document, paths first. */
export function* mergedPieces(
  own: readonly Piece[],
  foreign: readonly ForeignDocument[],
): Generator<Piece> {
  const paths = new Set(namesIn(own, 'paths'));
  const definitions = new Map<string, Schema>();
  for (const piece of own) {
    if (piece.section === 'definitions') definitions.set(piece.name, piece.value);
    else yield piece;
  }
  const added = new Map<string, AddedDefinition>();
  for (const document of foreign) {
    if (!isJsonObject(document.value)) continue;
    const { parameters, paths: items } = document.value;
    const names = nameDefinitions(document.value, definitions, added);
    const references = {
      nameOf: (name: string) => names.get(name),
      parameters: isJsonObject(parameters) ? parameters : {},
    };
    for (const [name, value] of Object.entries(isJsonObject(items) ? items : {})) {
      if (paths.has(name) || !isOfGroup(name, document.group)) continue;
      paths.add(name);
      yield { section: 'paths', name, value: foreignPath(value, references) };
    }
  }
  for (const [name, value] of definitions) yield { section: 'definitions', name, value };
  for (const [name, { value }] of added) yield { section: 'definitions', name, value };
}

function namesIn(pieces: readonly Piece[], section: Piece['section']): string[] {
  return pieces.filter((piece) => piece.section === section).map(({ name }) => name);
}

function isOfGroup(path: string, group: string): boolean {
  const prefix = group === '' ? '/api' : `/apis/${group}`;
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Adds the definitions of a document; returns their names in ours, by their names there. */
function nameDefinitions(
  document: JsonObject,
  own: ReadonlyMap<string, Schema>,
  added: Map<string, AddedDefinition>,
): Map<string, string> {
  const { definitions } = document;
  const given = isJsonObject(definitions) ? definitions : {};
  const names = new Map(Object.keys(given).map((name) => [name, name]));
  const nameOf = (name: string) => names.get(name);
  const isGiven = (name: string) => (Object.hasOwn(given, name) ? name : undefined);
  for (const [name, value] of Object.entries(given)) {
    const schema = foreignSchema(value, isGiven);
    let candidate = name;
    for (let suffix = 2; ; suffix += 1) {
      const present = own.get(candidate) ?? added.get(candidate)?.original;
      if (!present || isDeepStrictEqual(present, schema)) break;
      candidate = `${name}_v${suffix}`;
    }
    names.set(name, candidate);
  }
  for (const [name, value] of Object.entries(given)) {
    const target = names.get(name) ?? name;
    if (own.has(target) || added.has(target)) continue;
    const original = foreignSchema(value, isGiven);
    added.set(target, { original, value: foreignSchema(value, nameOf) });
  }
  return names;
}
