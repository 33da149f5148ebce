/** Writing a status: against the object as it was read, once more against a fresh one on conflict. */
import { type ApiObject, isConflict, isNotFound, type ResourceClient } from '@orch/client';

/**
 * @param change gives the object with its new status from the one passed in, or undefined when it has
 *   nothing to write. Called again with a fresh object after a conflict.
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
    // Gone: there is nothing left to have a status.
    if (isNotFound(error)) return object;
    if (!isConflict(error)) throw error;
    const fresh = await client.get(object.metadata?.name ?? '');
    if (fresh.metadata?.uid !== object.metadata?.uid) throw error;
    const again = change(fresh);
    return again ? await client.replaceStatus(again) : fresh;
  }
}
