/**
 * Ownership of a data directory: `format.json` says whose it is and in which format. A directory
 * that holds something else is left untouched. LevelDB's own lock, which `LevelDatabase` takes,
 * says that one process uses it.
 */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { LogError } from '../../replicated-log.js';
import type { DatabaseOptions, DirectoryFormat } from './disk.js';
import { syncPath } from './sync-path.js';

const formatFile = 'format.json';

/** Rejects with LogError `BadDirectory` (foreign, not writable, another format) or `Corrupt`. */
export async function claimDirectory(
  directory: string,
  format: DirectoryFormat,
  options: DatabaseOptions,
): Promise<void> {
  try {
    await makeDirectory(directory);
    const names = await readdir(directory);
    const marker = names.includes(formatFile)
      ? await readFile(join(directory, formatFile), 'utf8')
      : undefined;
    if (marker !== undefined) return checkMarker(directory, format, options, marker);
    if (names.some((name) => name !== `${formatFile}.tmp`)) {
      throw badDirectory(
        directory,
        `holds files but no ${formatFile}, so it is not a ${format.kind} directory`,
        'choose an empty directory, or the one used before',
      );
    }
    await writeMarker(directory, format);
  } catch (error) {
    if (error instanceof LogError) throw error;
    throw badDirectory(
      directory,
      `cannot be read and written (${errorText(error)})`,
      'check that the path is a directory, its owner and mode, and that its disk is not full or read-only',
      error,
    );
  }
}

/**
 * Rejects unless the marker says that `directory` holds `format`. For any disk: the text is the
 * marker's.
 */
export function checkMarker(
  directory: string,
  format: DirectoryFormat,
  options: DatabaseOptions,
  marker: string,
): void {
  let found: Partial<DirectoryFormat>;
  try {
    found = JSON.parse(marker) as Partial<DirectoryFormat>;
  } catch (error) {
    throw damaged(directory, options, `${formatFile} is not readable JSON`, error);
  }
  if (found.kind !== format.kind) {
    throw badDirectory(
      directory,
      `holds ${JSON.stringify(found.kind)}, not ${JSON.stringify(format.kind)}`,
      'choose the directory used before, or an empty one',
    );
  }
  if (found.version !== format.version) {
    throw badDirectory(
      directory,
      `has format ${String(found.version)}, this program reads and writes format ${format.version}`,
      'use the program version that wrote it, or restore from a backup',
    );
  }
}

export function damaged(
  directory: string,
  { cure = 'restore it from a backup or another replica' }: DatabaseOptions,
  fault: string,
  cause: unknown,
): LogError {
  return new LogError('Corrupt', `${directory} is damaged (${fault}): ${cure}`, { cause });
}

export function badDirectory(
  directory: string,
  fault: string,
  cure: string,
  cause?: unknown,
): LogError {
  return new LogError('BadDirectory', `data directory ${directory} ${fault}: ${cure}`, { cause });
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** With every name that it makes on stable storage: a new directory that is acted upon stays. */
async function makeDirectory(directory: string): Promise<void> {
  const path = resolve(directory);
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.startsWith(first); made = dirname(made)) {
    await syncPath(dirname(made));
  }
}

/** Written beside and renamed, each step synced: the marker exists completely or not at all. */
async function writeMarker(directory: string, format: DirectoryFormat): Promise<void> {
  const temporary = join(directory, `${formatFile}.tmp`);
  await writeFile(temporary, `${JSON.stringify(format)}\n`, { mode: 0o600, flush: true });
  await rename(temporary, join(directory, formatFile));
  await syncPath(directory);
}
