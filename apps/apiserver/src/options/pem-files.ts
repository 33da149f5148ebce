/** Reads the PEM files of the flags. A file that cannot be used is an expected failure. */
import { readFileSync } from 'node:fs';
import { errorMessage, exitCodes, FatalError } from '@orch/component';

/** Returns the text of the file, or undefined for no path. Throws FatalError. */
export function readPem(path: string): string | undefined {
  if (path === '') return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new FatalError(exitCodes.failed, `cannot read ${path}: ${errorMessage(error)}`);
  }
}

/** Returns the result of `use`. Throws FatalError with the names of `flags` if it throws. */
export function usingFilesOf<Result>(flags: string, use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    if (error instanceof FatalError) throw error;
    throw new FatalError(
      exitCodes.failed,
      `${flags}: the files must be a PEM certificate and its key: ${errorMessage(error)}`,
    );
  }
}
