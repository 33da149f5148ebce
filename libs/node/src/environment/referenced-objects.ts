/** Where the config maps and secrets that pods refer to come from. */
import type { ConfigMap, Secret } from '@orch/types/core/v1';

export interface ReferencedObjects {
  /** Undefined if it does not exist; throws if that cannot be told now. */
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
}

/** What a pod refers to is missing or wrong. The message is shown as the container's waiting reason. */
export class BrokenReference extends Error {
  override readonly name = 'BrokenReference';
}
