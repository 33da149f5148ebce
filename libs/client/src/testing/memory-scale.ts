/** The `scale` subresource of the workloads of the in-memory API server. */
import { labelSelectorFromObject } from '@orch/apimachinery';
import type { Scale } from '@orch/types/autoscaling/v1';
import type { LabelSelector } from '@orch/types/meta/v1';
import type { StoredObject } from './memory-store.js';

interface Workload {
  readonly replicas?: number;
  readonly selector?: LabelSelector;
}

export function scaleOf({ metadata, spec, status }: StoredObject): Scale {
  const { replicas = 0, selector }: Workload = spec ?? {};
  const { name, namespace, uid, resourceVersion } = metadata;
  const observed: Workload = status ?? {};
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, namespace, uid, resourceVersion },
    spec: { replicas },
    status: {
      replicas: observed.replicas ?? 0,
      selector: labelSelectorFromObject(selector).toString(),
    },
  };
}

/** The workload with the replicas of a scale. */
export function scaled(object: StoredObject, { metadata, spec }: Scale): StoredObject {
  const { resourceVersion = object.metadata.resourceVersion } = metadata ?? {};
  return {
    ...object,
    metadata: { ...object.metadata, resourceVersion },
    spec: { ...object.spec, replicas: spec?.replicas ?? 0 },
  };
}
