/** Parses annotations that hold JSON, from clients that predate the corresponding fields. */
import { isJsonObject } from '@orch/apimachinery';

/** The value; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A list of objects, or the problem with the text. Does not check the fields of the objects. */
export function parseList<T extends object>(text: string): readonly T[] | string {
  const value = parseJson(text);
  if (value === null) return [];
  if (value === undefined) return 'must be valid JSON';
  return Array.isArray(value) && value.every(isJsonObject)
    ? (value as object[] as T[])
    : 'must be a JSON list of objects';
}
