/**
 * Ownership of a data directory: `format.json` says whose it is and in which format, LevelDB's own
 * lock says that one process uses it. A directory that holds something else is left untouched.
 */
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { LogError } from '../replicated-log.js';

export type Database = ClassicLevel<Buffer, Buffer>;

export interface DirectoryFormat {
  /** What the directory holds, such as `log`. */
  readonly kind: string;
  /** Raised when an older program could not read what a newer one wrote. */
  readonly version: number;
}

export interface DatabaseOptions {
  /** Higher: fewer, larger files and slower recovery; lower: more merging. */
  readonly writeBufferBytes: number;
  /** Read cache. Higher: more memory; lower: more disk reads of history. */
  readonly cacheBytes: number;
}

/** LevelDB takes no fewer. Higher: more mapped memory; lower: tables are opened more often. */
const OPEN_FILES_MAX = 74;
/** Higher: more mapped memory, longer merges; lower: more files. */
const FILE_BYTES = 1024 * 1024;
const MARKER = 'format.json';

/**
 * Opens the database in `directory`, creating both when absent. Rejects with LogError
 * `BadDirectory` (foreign, locked, not writable, newer format) or `Corrupt`.
 */
export async function openDatabase(
  directory: string,
  format: DirectoryFormat,
  options: DatabaseOptions,
): Promise<Database> {
  await claimDirectory(directory, format);
  const database: Database = new ClassicLevel<Buffer, Buffer>(join(directory, 'leveldb'), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    // Payloads are checked by their own checksums and mostly live in memory: compressing them
    // again costs more on the write path than the disk it saves.
    compression: false,
    writeBufferSize: options.writeBufferBytes,
    cacheSize: options.cacheBytes,
    // Tables in use are mapped into memory: these two bound how much that is.
    maxOpenFiles: OPEN_FILES_MAX,
    maxFileSize: FILE_BYTES,
  });
  try {
    await database.open();
  } catch (error) {
    throw describeOpenFailure(directory, error);
  }
  return database;
}

async function claimDirectory(directory: string, format: DirectoryFormat): Promise<void> {
  let names: string[];
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    names = await readdir(directory);
    const marker = names.includes(MARKER)
      ? await readFile(join(directory, MARKER), 'utf8')
      : undefined;
    if (marker !== undefined) return checkMarker(directory, format, marker);
    if (names.some((name) => name !== `${MARKER}.tmp`)) {
      throw badDirectory(
        directory,
        `holds files but no ${MARKER}, so it is not a ${format.kind} directory`,
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

function checkMarker(directory: string, format: DirectoryFormat, marker: string): void {
  let found: Partial<DirectoryFormat>;
  try {
    found = JSON.parse(marker) as Partial<DirectoryFormat>;
  } catch (error) {
    throw new LogError(
      'Corrupt',
      `${directory}/${MARKER} is not readable JSON: restore the directory from a backup or another replica`,
      { cause: error },
    );
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

/** Written beside and renamed, each step synced: the marker is there whole or not at all. */
async function writeMarker(directory: string, format: DirectoryFormat): Promise<void> {
  const temporary = join(directory, `${MARKER}.tmp`);
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(format)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, join(directory, MARKER));
  const parent = await open(directory, 'r');
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}

function describeOpenFailure(directory: string, error: unknown): LogError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = (cause as { code?: string }).code;
  if (code === 'LEVEL_LOCKED') {
    return badDirectory(
      directory,
      'is in use by another process',
      'stop that process, or give this one its own data directory',
      error,
    );
  }
  if (code === 'LEVEL_CORRUPTION') {
    return new LogError(
      'Corrupt',
      `${directory} is damaged (${errorText(cause)}): restore it from a backup or another replica`,
      { cause: error },
    );
  }
  return badDirectory(
    directory,
    `cannot be opened (${errorText(cause)})`,
    'check its owner and mode, and that its disk is not full or read-only',
    error,
  );
}

function badDirectory(directory: string, fault: string, cure: string, cause?: unknown): LogError {
  return new LogError('BadDirectory', `data directory ${directory} ${fault}: ${cure}`, { cause });
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
