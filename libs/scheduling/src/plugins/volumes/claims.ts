/** Claims of pods: their names, and whether they wait for their pod. */
import { storageClassName } from '@orch/apimachinery';
import type { PersistentVolumeClaim, Volume } from '@orch/types/core/v1';
import type { ClusterObjects } from '../../model/cluster-objects.js';
import type { PodInfo } from '../../model/pod-info.js';

export interface ClaimReference {
  readonly name: string;
  /** `namespace/name` */
  readonly key: string;
  /** Whether the claim is created for the pod and must belong to it. */
  readonly isEphemeral: boolean;
}

/** Returns the claim that a volume of the pod refers to; undefined if it needs none. */
export function claimReference(pod: PodInfo, volume: Volume): ClaimReference | undefined {
  const name = volume.persistentVolumeClaim?.claimName;
  if (name) return { name, key: `${pod.namespace}/${name}`, isEphemeral: false };
  if (!volume.ephemeral) return undefined;
  const generated = `${pod.name}-${volume.name}`;
  return { name: generated, key: `${pod.namespace}/${generated}`, isEphemeral: true };
}

export function claimReferences(pod: PodInfo): ClaimReference[] {
  return pod.volumes.flatMap((volume) => claimReference(pod, volume) ?? []);
}

export function claimKey({ metadata }: PersistentVolumeClaim): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

/** Whether the claim is bound when a pod that uses it is scheduled, not before. */
export function waitsForConsumer(claim: PersistentVolumeClaim, objects: ClusterObjects): boolean {
  const className = storageClassName(claim);
  const storageClass = className === '' ? undefined : objects.storageClass(className);
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
}
