/** JSON paths of the command line, such as those of `-o jsonpath`, `--sort-by` and `--for`. */
import { type JsonPath, JsonPathError, readJsonPath } from '@orch/apimachinery';
import { UsageError } from '../command-line/errors.js';

/** Parses `.status.phase`, `{.status.phase}` or `status.phase`. Throws `UsageError`. */
export function parsePath(text: string): JsonPath {
  try {
    return readJsonPath(text, 'relaxed');
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    throw new UsageError(
      `cannot read JSON path ${JSON.stringify(text)} from "${error.unreadText}" on: ${error.message}`,
    );
  }
}
