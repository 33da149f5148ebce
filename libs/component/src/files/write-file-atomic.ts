/**
 * Replaces a file atomically: readers see the old or the new content, never a part. The content is
 * synced to disk before the rename.
 */

import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/** Writes `content` to `path` with `mode` (such as 0o600). The directory must exist. */
export function writeFileAtomic(path: string, content: string | Uint8Array, mode: number): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  const handle = openSync(temporary, 'wx', mode);
  try {
    try {
      let written = 0;
      while (written < bytes.length) written += writeSync(handle, bytes, written);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
