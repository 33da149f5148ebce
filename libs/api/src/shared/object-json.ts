/** API objects as JSON values. */
import type { JsonObject } from '@orch/apimachinery';
import type { ApiObject } from '../definition.js';

/**
 * The object itself. In memory it consists of plain JSON values, but its interface has no index
 * signature, so that the compiler cannot know.
 */
export function jsonOf(object: ApiObject): JsonObject {
  return object as JsonObject;
}
