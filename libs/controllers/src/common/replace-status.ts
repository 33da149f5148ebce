/** Writes a status and retries once on a conflict. */
import { type ApiObject, isConflict, isNotFound, type ResourceClient } from '@orch/client';

/**
 * Replaces the status of `object`. @returns the stored object.
 * @param change returns the object with its new status, or undefined if there is nothing to write.
 *   After a conflict it is called again with the latest object.
 */
export async function replaceStatus<T extends ApiObject>(
  client: ResourceClient<T>,
  object: T,
  change: (current: T) => T | undefined,
): Promise<T> {
  const changed = change(object);
  if (!changed) return object;
  try {
    return await client.replaceStatus(changed);
  } catch (error) {
    // A deleted object needs no status.
    if (isNotFound(error)) return object;
    if (!isConflict(error)) throw error;
    const latest = await client.get(object.metadata?.name ?? '');
    if (latest.metadata?.uid !== object.metadata?.uid) throw error;
    const changedAgain = change(latest);
    return changedAgain ? await client.replaceStatus(changedAgain) : latest;
  }
}
