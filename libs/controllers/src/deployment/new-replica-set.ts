/** The replica set of the current template of a deployment: its creation and updates. Pure. */
import { controllerReference, semanticallyEqual } from '@orch/apimachinery';
import type { Deployment, ReplicaSet } from '@orch/types/apps/v1';
import { nameHash } from '../common/name-hash.js';
import { annotationsForRevision, withSizes } from './annotations.js';
import { boundsOf, wantedReplicas } from './bounds.js';
import { newReplicaSetSize } from './rolling-update.js';
import { maxRevision, type Resize, type Rollout, sizeOf, templateHashLabel } from './rollout.js';

const ownerType = { apiVersion: 'apps/v1', kind: 'Deployment' } as const;

/** The replica set to create for a template that none has yet. */
export function newReplicaSet(rollout: Rollout): ReplicaSet {
  const { deployment } = rollout;
  const template = deployment.spec?.template ?? {};
  const hash = nameHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [templateHashLabel]: hash };
  const selector = deployment.spec?.selector;
  const made: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${deployment.metadata?.name}-${hash}`,
      namespace: deployment.metadata?.namespace,
      labels,
      ownerReferences: [controllerReference({ ...deployment, ...ownerType })],
    },
    spec: {
      replicas: newReplicaSetSize(rollout),
      minReadySeconds: deployment.spec?.minReadySeconds ?? 0,
      selector: {
        ...selector,
        matchLabels: { ...selector?.matchLabels, [templateHashLabel]: hash },
      },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
  const annotations = annotationsForRevision(deployment, made, nextRevision(rollout));
  return { ...made, metadata: { ...made.metadata, annotations: sized(deployment, annotations) } };
}

function sized(deployment: Deployment, annotations: Readonly<Record<string, string>>) {
  const wanted = wantedReplicas(deployment);
  return withSizes(annotations, wanted, wanted + boundsOf(deployment).maxSurge);
}

function nextRevision(rollout: Rollout): number {
  return maxRevision(rollout.old) + 1;
}

/**
 * The replica sets that change: by `resizes`, or because the annotations or the readiness of the
 * current one are stale.
 */
export function changedReplicaSets(rollout: Rollout, resizes: readonly Resize[]): ReplicaSet[] {
  const { deployment, current } = rollout;
  const desired = new Map<ReplicaSet, ReplicaSet>();
  if (current) {
    const annotations = annotationsForRevision(deployment, current, nextRevision(rollout));
    desired.set(current, {
      ...current,
      metadata: { ...current.metadata, annotations: { ...annotations } },
      spec: { ...current.spec, minReadySeconds: deployment.spec?.minReadySeconds ?? 0 },
    });
  }
  for (const { replicaSet, replicas } of resizes) {
    const base = desired.get(replicaSet) ?? replicaSet;
    desired.set(replicaSet, {
      ...base,
      metadata: {
        ...base.metadata,
        annotations: sized(deployment, base.metadata?.annotations ?? {}),
      },
      spec: { ...base.spec, replicas },
    });
  }
  return [...desired].filter(([before, after]) => !isSame(before, after)).map(([, after]) => after);
}

function isSame(before: ReplicaSet, after: ReplicaSet): boolean {
  return (
    sizeOf(before) === sizeOf(after) &&
    (before.spec?.minReadySeconds ?? 0) === (after.spec?.minReadySeconds ?? 0) &&
    semanticallyEqual(before.metadata?.annotations ?? {}, after.metadata?.annotations ?? {})
  );
}
