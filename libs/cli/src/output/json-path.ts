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

/** As `parsePath`, for one path of a field: braces are around all of it or absent. */
export function parseFieldPath(text: string): JsonPath {
  return parsePath(fieldPathText(text));
}

/** The path of a field in the form `{.status.phase}`. Throws `UsageError`. */
export function fieldPathText(text: string): string {
  const match = /^\{\.?([^{}]+)\}$|^\.?([^{}]+)$/.exec(text);
  if (!match) {
    throw new UsageError(
      "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'",
    );
  }
  return `{.${match[1] ?? match[2]}}`;
}
