/** Pods as a controller makes them from its template. Pure. */
import { controllerReference } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';
import type { Pod, PodTemplateSpec } from '@orch/types/core/v1';

const namePrefixCharsMax = 253 - 5;

/**
 * A pod for `owner`; its name is the owner's with a random end. It shares the specification with
 * the template, which must not be changed.
 */
export function podFromTemplate(owner: ApiObject, template: PodTemplateSpec | undefined): Pod {
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${owner.metadata?.name}-`.slice(0, namePrefixCharsMax),
      namespace: owner.metadata?.namespace,
      ...(labels ? { labels: { ...labels } } : {}),
      ...(annotations ? { annotations: { ...annotations } } : {}),
      ...(finalizers ? { finalizers: [...finalizers] } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    spec: template?.spec ?? { containers: [] },
  };
}
