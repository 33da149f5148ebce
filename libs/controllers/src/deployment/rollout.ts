/** The replica sets of a deployment: the one of the current template and the old ones. Pure. */

import { semanticallyEqual } from '@orch/apimachinery';
import type { Deployment, ReplicaSet } from '@orch/types/apps/v1';
import type { PodTemplateSpec } from '@orch/types/core/v1';
import { createdMs } from '../common/created.js';
import { revisionOf } from './annotations.js';

/** The label of replica sets and pods with the hash of their template. */
export const templateHashLabel = 'pod-template-hash';

export interface Rollout {
  readonly deployment: Deployment;
  /** The one with the deployment's template, once it is made. */
  readonly current: ReplicaSet | undefined;
  /** All others, oldest first. */
  readonly old: readonly ReplicaSet[];
}

/** A replica set and the size it is to have. */
export interface Resize {
  readonly replicaSet: ReplicaSet;
  readonly replicas: number;
}

export function rolloutOf(deployment: Deployment, replicaSets: readonly ReplicaSet[]): Rollout {
  const sorted = [...replicaSets].sort(olderFirst);
  const template = deployment.spec?.template;
  // If several have the template (created by other controllers), the oldest is the current one.
  const current = sorted.find((one) => sameTemplate(one.spec?.template, template));
  return { deployment, current, old: sorted.filter((one) => one !== current) };
}

export function allOf(rollout: Rollout): ReplicaSet[] {
  return rollout.current ? [...rollout.old, rollout.current] : [...rollout.old];
}

export function sameTemplate(
  a: PodTemplateSpec | undefined,
  b: PodTemplateSpec | undefined,
): boolean {
  return semanticallyEqual(withoutHash(a), withoutHash(b));
}

export function withoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec {
  const { [templateHashLabel]: _hash, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } };
}

export function sizeOf(replicaSet: ReplicaSet): number {
  return replicaSet.spec?.replicas ?? 1;
}

export function availableOf(replicaSet: ReplicaSet): number {
  return replicaSet.status?.availableReplicas ?? 0;
}

export function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

export function maxRevision(replicaSets: readonly ReplicaSet[]): number {
  return Math.max(0, ...replicaSets.map(revisionOf));
}

export function olderFirst(a: ReplicaSet, b: ReplicaSet): number {
  return createdMs(a) - createdMs(b) || (name(a) < name(b) ? -1 : 1);
}

function name(replicaSet: ReplicaSet): string {
  return replicaSet.metadata?.name ?? '';
}
