/** Access to the config maps and secrets that pods reference. */
import type { ConfigMap, Secret } from '@orch/types/core/v1';

export interface ReferencedObjects {
  /**
   * Returns undefined if the object does not exist. Rejects with `BrokenReference` if it cannot be
   * read.
   */
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
}

/**
 * A reference of a pod is missing or invalid. The message becomes the waiting message of the
 * container.
 */
export class BrokenReference extends Error {
  override readonly name = 'BrokenReference';
}
