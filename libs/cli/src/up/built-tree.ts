/** Where the programs of this checkout are. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The `dist` that contains this file. Found by its `apps`, because the build bundles the file. */
export const builtTree = treeAround(import.meta.dirname);

function treeAround(directory: string): string {
  return existsSync(join(directory, 'apps')) ? directory : treeAround(dirname(directory));
}
