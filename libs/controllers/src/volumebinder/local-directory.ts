/** Directories of `host-path` volumes on the machine of the controller manager. */
import { chmod, mkdir, realpath, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

const parent = '/tmp';

export async function createLocalDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  // Any user of a container may write.
  await chmod(path, 0o777);
}

/** Deletes a directory below /tmp. Follows no link out of /tmp, and deletes links, not targets. */
export async function deleteLocalDirectory(path: string): Promise<void> {
  const directory = await realDirectoryOf(path);
  if (directory === undefined) return;
  const root = await realpath(parent);
  if (directory !== root && !directory.startsWith(`${root}/`)) {
    throw new Error(`${path} is reached by a link to a path outside ${parent}`);
  }
  await rm(path, { recursive: true, force: true });
}

/** Undefined if it does not exist, so that nothing is left to delete. */
async function realDirectoryOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
