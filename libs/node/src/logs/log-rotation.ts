/** Rotation of a container log by size. */
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface RotationOptions {
  /** A larger log is rotated. */
  readonly fileBytesMax: number;
  /** Files per container, including the current one; at least 2. */
  readonly fileCountMax: number;
}

/**
 * Rotates the log if it is too large. Returns whether it did; the runtime must then open a new
 * file.
 */
export function rotateLog(path: string, options: RotationOptions, nowMs: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat || stat.size <= options.fileBytesMax) return false;
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]/g, '').replace('T', '-');
  renameSync(path, `${path}.${stamp.slice(0, 19)}`);
  const rotatedCountMax = options.fileCountMax - 1;
  for (const old of rotatedLogs(path).slice(0, -rotatedCountMax)) rmSync(old, { force: true });
  return true;
}

/** Removes a log and its rotated files. */
export function removeLogs(path: string): void {
  for (const old of rotatedLogs(path)) rmSync(old, { force: true });
  rmSync(path, { force: true });
}

/** Returns the paths of the rotated files, oldest first. */
function rotatedLogs(path: string): string[] {
  const directory = dirname(path);
  if (!statSync(directory, { throwIfNoEntry: false })) return [];
  return readdirSync(directory)
    .filter((name) => name.startsWith(`${basename(path)}.`))
    .sort()
    .map((name) => join(directory, name));
}
