/** Counts changes of the desired state in `metadata.generation`. */
import type { ApiObject } from '../definition.js';

/** Increments the generation that the registry has copied from the stored object. */
export function countGeneration(object: ApiObject): void {
  object.metadata ??= {};
  object.metadata.generation = (object.metadata.generation ?? 0) + 1;
}
