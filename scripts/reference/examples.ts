/** Examples of the kinds: a YAML file each, shown on its page and created against a server by a test. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResourceDefinition } from '@orch/api';
import { parse } from 'yaml';

export interface ExampleFile {
  readonly text: string;
  readonly body: object;
}

/** Undefined where the kind has none. */
export function readExample(
  folder: string,
  { plural }: ResourceDefinition,
): ExampleFile | undefined {
  const path = join(folder, `${plural}.yaml`);
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  return { text, body: parse(text) as object };
}
