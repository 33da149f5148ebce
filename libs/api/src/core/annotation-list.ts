/** Annotations that hold JSON, as clients of before wrote what has become fields. */
import { isJsonObject } from '@orch/apimachinery';

/** The value; undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A list of objects, or what is wrong with the text. The fields of the objects are not looked at. */
export function parseList<T extends object>(text: string): readonly T[] | string {
  const value = parseJson(text);
  if (value === null) return [];
  if (value === undefined) return 'must be valid JSON';
  return Array.isArray(value) && value.every(isJsonObject)
    ? (value as object[] as T[])
    : 'must be a JSON list of objects';
}
