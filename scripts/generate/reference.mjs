/** Generates the pages of `docs/api` from the kinds as the product defines them. */
import { join } from 'node:path';
import { loadSources } from './load-sources.mjs';

/** Path relative to `docs/api` -> text. `root`: the repository. */
export async function referencePages(root) {
  const { referencePages } = await loadSources(root, 'scripts/reference/main.ts');
  return referencePages(join(root, 'examples/api'));
}
