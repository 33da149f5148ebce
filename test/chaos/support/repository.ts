/** Paths of the repository, relative to the built tree (`dist/test/chaos/support`). */
import { join, resolve } from 'node:path';

export const repositoryRoot = resolve(import.meta.dirname, '../../../..');
export const apiServerMain = join(repositoryRoot, 'dist/apps/apiserver/src/main.js');
export const orchctlMain = join(repositoryRoot, 'dist/apps/orchctl/src/main.js');
/** Sources that are not compiled, such as C. */
export const chaosSources = join(repositoryRoot, 'test/chaos');
