/** Reads the recorded fixtures of the bootstrap objects, with the names of the dialect. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { dialect } from '@orch/component';

const folder = resolve(import.meta.dirname, '../../../../test/conformance/facts/bootstrap');

/** Returns the fixture `FILE.json` in the dialect of this process. */
// biome-ignore lint/suspicious/noExplicitAny: specs assert the content
export function bootstrapFacts(file: string): any {
  return JSON.parse(readFileSync(resolve(folder, `${file}.json`), 'utf8'), (_key, value) =>
    typeof value === 'string' ? branded(value) : keysBranded(value),
  );
}

/**
 * Replaces the brand identifiers in a name of the fixtures. Aggregation labels have the domain of
 * the groups.
 */
function branded(name: string): string {
  const { groupDomain, keyDomain, word } = dialect();
  return name
    .replace(/(rbac\.authorization)\.orch\.io\/aggregate-/, `$1.${groupDomain}/aggregate-`)
    .replace(/orch\.io(?=\/)/, keyDomain)
    .replace(/orch\.io(?!\/)/, groupDomain)
    .replaceAll(/\borch-/g, dialect().systemName(''))
    .replace(/^orch$/, word);
}

function keysBranded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [branded(key), held]));
}
