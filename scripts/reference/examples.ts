/**
 * Examples of the kinds: one YAML file each, shown on its page and created on a server by a test.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResourceDefinition } from '@orch/api';
import { parse } from 'yaml';

export interface ExampleFile {
  readonly text: string;
  readonly body: object;
}

/** Undefined if the kind has no example, as kinds that clients cannot create. */
export function readExample(
  folder: string,
  { plural, verbs }: ResourceDefinition,
): ExampleFile | undefined {
  if (verbs && !verbs.includes('create')) return undefined;
  const path = join(folder, `${plural}.yaml`);
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  return { text, body: parse(text) as object };
}
