/** What is known of the objects that a fresh cluster has, in the names of either dialect. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { dialect } from '@orch/component';

const folder = resolve(import.meta.dirname, '../../../../test/conformance/facts/bootstrap');

/** `FILE.json` of the facts, in the dialect of this process. */
// biome-ignore lint/suspicious/noExplicitAny: as the file has it; specs assert what it is
export function bootstrapFacts(file: string): any {
  return JSON.parse(readFileSync(resolve(folder, `${file}.json`), 'utf8'), (_key, value) =>
    typeof value === 'string' ? branded(value) : keysBranded(value),
  );
}

/** The brand table of the facts, applied to one name. Aggregation labels have the group for a domain. */
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
