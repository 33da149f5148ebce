/** References to pods, for events. */
import type { ObjectReference } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';

export function podReference({ metadata }: Pod): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata ?? {};
  return { apiVersion: 'v1', kind: 'Pod', name, namespace, uid, resourceVersion };
}
