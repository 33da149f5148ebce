/**
 * The data directory belongs to one cluster: it remembers the dialect that its objects are written in.
 * Everything is checked before anything is written.
 */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dialect, exitCodes, FatalError, writeFileAtomic } from '@orch/component';

const dialectFile = 'dialect';
/** What a server makes in its directory. */
const known = new Set([dialectFile, 'log', 'state', 'pki']);
/** Hidden, or what takes the place of a directory as a whole, such as `state.incoming`. */
const beside = /^(\.|log\.|state\.)/;

/** Throws FatalError for a directory that is another's, another dialect's or not writable. */
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
  const foreign = names.find((name) => !known.has(name) && !beside.test(name));
  if (foreign !== undefined) {
    throw new FatalError(
      exitCodes.failed,
      `--data-dir ${path} holds ${foreign}, which is not an API server's; give an empty directory or that of a server`,
    );
  }
  const kept = readDialect(path);
  if (kept !== undefined && kept !== dialect().name) {
    throw new FatalError(
      exitCodes.usage,
      `--data-dir ${path} belongs to a cluster with --dialect=${kept}, not ${dialect().name}; a cluster keeps the dialect it was created with`,
    );
  }
}

/** Makes the directory when there is none and writes down the dialect. */
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
      `--data-dir ${path} cannot be made: ${cause}; give a directory this user may write to`,
      { cause: error },
    );
  }
}

function readDialect(path: string): string | undefined {
  const file = join(path, dialectFile);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}
