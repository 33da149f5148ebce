/**
 * The data directory belongs to one cluster and records the dialect of its objects. All checks
 * precede all writes.
 */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dialect, exitCodes, FatalError, writeFileAtomic } from '@orch/component';

const dialectFile = 'dialect';
/** The entries that a server creates. */
const known = new Set([dialectFile, 'log', 'state', 'pki']);
/** Hidden entries, and replacements of a whole directory such as `state.incoming`. */
const ignored = /^(\.|log\.|state\.)/;

/** Throws FatalError if the directory is not writable or belongs to another program or dialect. */
export function checkDataDirectory(path: string): void {
  if (!existsSync(path)) return;
  let names: string[];
  try {
    names = readdirSync(path);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new FatalError(
      exitCodes.failed,
      `--data-dir ${path} cannot be used: ${cause}; give a directory this user may write to`,
      { cause: error },
    );
  }
  const foreign = names.find((name) => !known.has(name) && !ignored.test(name));
  if (foreign !== undefined) {
    throw new FatalError(
      exitCodes.failed,
      `--data-dir ${path} holds ${foreign}, which no API server creates; give an empty directory or one of an API server`,
    );
  }
  const recorded = readDialect(path);
  if (recorded !== undefined && recorded !== dialect().name) {
    throw new FatalError(
      exitCodes.usage,
      `--data-dir ${path} belongs to a cluster with --dialect=${recorded}, not ${dialect().name}; a cluster keeps the dialect it was created with`,
    );
  }
}

/** Creates the directory if it is missing and records the dialect. */
export function claimDataDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if (readDialect(path) === undefined) {
      writeFileAtomic(join(path, dialectFile), `${dialect().name}\n`, 0o600);
    }
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new FatalError(
      exitCodes.failed,
      `--data-dir ${path} cannot be created: ${cause}; give a directory this user may write to`,
      { cause: error },
    );
  }
}

function readDialect(path: string): string | undefined {
  const file = join(path, dialectFile);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}
