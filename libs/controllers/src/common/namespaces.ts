/** Namespaces, and the namespaces of objects. Pure. */
import type { ApiObject } from '@orch/client';
import type { Namespace } from '@orch/types/core/v1';

/** Whether the namespace exists and accepts new objects. */
export function isNamespaceActive(namespace: Namespace | undefined): boolean {
  if (!namespace || namespace.metadata?.deletionTimestamp) return false;
  return namespace.status?.phase !== 'Terminating';
}

/** The key of the object's namespace, for controllers that reconcile namespaces. */
export function namespaceOf(object: ApiObject): string[] {
  return [object.metadata?.namespace ?? ''];
}
