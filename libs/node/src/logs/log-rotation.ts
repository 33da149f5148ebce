/** Moves a log that has grown over its size aside and drops the oldest of those moved before. */
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface RotationSettings {
  /** A log is moved aside once it is larger. */
  readonly fileBytesMax: number;
  /** Files a container, the current one included; at least 2. */
  readonly fileCountMax: number;
}

/** Whether the log was moved; the runtime has to open a new one then. */
export function rotateLog(path: string, settings: RotationSettings, nowMs: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat || stat.size <= settings.fileBytesMax) return false;
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]/g, '').replace('T', '-');
  renameSync(path, `${path}.${stamp.slice(0, 19)}`);
  const kept = settings.fileCountMax - 1;
  for (const old of rotatedLogs(path).slice(0, -kept)) rmSync(old, { force: true });
  return true;
}

/** Removes a log and everything rotated out of it. */
export function removeLogs(path: string): void {
  for (const old of rotatedLogs(path)) rmSync(old, { force: true });
  rmSync(path, { force: true });
}

/** Oldest first. */
function rotatedLogs(path: string): string[] {
  const directory = dirname(path);
  if (!statSync(directory, { throwIfNoEntry: false })) return [];
  return readdirSync(directory)
    .filter((name) => name.startsWith(`${basename(path)}.`))
    .sort()
    .map((name) => join(directory, name));
}
