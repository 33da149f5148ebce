/** The generation of objects: how often what is wanted of them has changed. */
import type { ApiObject } from '../definition.js';

/** One more than the stored generation; the registry has put that in place. */
export function countGeneration(object: ApiObject): void {
  object.metadata ??= {};
  object.metadata.generation = (object.metadata.generation ?? 0) + 1;
}
