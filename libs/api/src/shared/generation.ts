/** Counting of `metadata.generation`. */
import type { ObjectMeta } from '@orch/types/meta/v1';

interface Counted {
  metadata?: ObjectMeta;
}

/** One more than the stored generation; the registry has put that in place. */
export function countGeneration(object: Counted): void {
  object.metadata ??= {};
  object.metadata.generation = (object.metadata.generation ?? 0) + 1;
}
