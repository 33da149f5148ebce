/**
 * Reads objects from files, directories and standard input: YAML and JSON, several documents, List
 * kinds.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDeeperThan, isMergeFault, objectDepthMax, yamlReadOptions } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';
import { errorCode, errorMessage } from '@orch/component';
import { type Document, parseAllDocuments } from 'yaml';
import { CliError } from '../command-line/errors.js';
import type { Io } from '../command-line/io.js';

export interface Manifest {
  readonly object: ApiObject;
  /** The file, for messages. */
  readonly source: string;
}

/** Bytes of one file. Larger files are not manifests. */
const fileBytesMax = 64 * 1024 * 1024;
/** Files of one directory. Prevents an accidental scan of a whole file system. */
const fileCountMax = 10_000;
/** Nodes that the aliases and merge keys of one document may expand to. */
const aliasesMax = 1_000;

const endings = ['.yaml', '.yml', '.json'];

/**
 * The manifests in the order of the arguments, those of a directory by file name. Throws a
 * `CliError` that names file and cause.
 */
export async function readManifests(
  names: readonly string[],
  recursive: boolean,
  io: Io,
): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const name of names.flatMap((list) => list.split(','))) {
    if (name === '-') manifests.push(...parseManifests(await io.readInput(), 'standard input'));
    else {
      for (const file of filesOf(name, recursive)) {
        manifests.push(...parseManifests(readText(file), file));
      }
    }
  }
  if (manifests.length === 0) throw new CliError(`no objects in ${names.join(', ')}`);
  return manifests;
}

/** Every object in a text, which is YAML 1.1 as on the server. */
export function parseManifests(text: string, source: string): Manifest[] {
  const documents = parseAllDocuments(text, yamlReadOptions(aliasesMax));
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error) {
      // The lines after the first quote the text around the error.
      const [cause = ''] = error.message.split('\n');
      throw new CliError(`cannot read ${source}: ${cause.replace(/:$/, '')}`);
    }
    return objectsOf(contentOf(document, source), source);
  });
}

/**
 * The value of a document. Throws CliError for aliases that are unresolved, recursive or too many.
 */
function contentOf(document: Document, source: string): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: aliasesMax });
    if (!isDeeperThan(value, objectDepthMax)) return value;
  } catch (error) {
    if (error instanceof ReferenceError || isMergeFault(error)) {
      throw new CliError(`cannot read ${source}: ${error.message}`);
    }
    if (!(error instanceof RangeError)) throw error;
  }
  throw new CliError(`cannot read ${source}: nested deeper than ${objectDepthMax} levels`);
}

function objectsOf(value: unknown, source: string): Manifest[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new CliError(`${source} holds ${JSON.stringify(value).slice(0, 60)}, want an object`);
  }
  const object = value as ApiObject & { items?: unknown };
  for (const field of ['apiVersion', 'kind'] as const) {
    if (typeof object[field] !== 'string' || object[field] === '') {
      throw new CliError(`${source}: an object has no ${field}`);
    }
  }
  if (object.kind?.endsWith('List') && Array.isArray(object.items)) {
    return object.items.flatMap((item) => objectsOf(item, source));
  }
  return [{ object, source }];
}

function filesOf(path: string, recursive: boolean): string[] {
  const status = attempt(path, () => statSync(path));
  if (!status.isDirectory()) return [path];
  const entries = attempt(path, () => readdirSync(path, { withFileTypes: true, recursive }));
  const files = entries
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  if (files.length > fileCountMax) {
    throw new CliError(`${path} has more than ${fileCountMax} files`);
  }
  if (files.length === 0) {
    throw new CliError(`${path} has no files that end in ${endings.join(', ')}`);
  }
  return files;
}

function readText(path: string): string {
  if (attempt(path, () => statSync(path)).size > fileBytesMax) {
    throw new CliError(`${path} is larger than ${fileBytesMax} bytes`);
  }
  return attempt(path, () => readFileSync(path, 'utf8'));
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const missing = errorCode(error) === 'ENOENT';
    const cause = errorMessage(error);
    throw new CliError(
      missing ? `the path "${path}" does not exist` : `cannot read ${path}: ${cause}`,
    );
  }
}
