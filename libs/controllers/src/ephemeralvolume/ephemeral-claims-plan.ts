/** The claims of the ephemeral volumes of a pod. Pure. */
import { controllerReference, isControlledBy } from '@orch/apimachinery';
import type { PersistentVolumeClaim, Pod, Volume } from '@orch/types/core/v1';
import { claimNameOf } from '../common/pod-claims.js';

/** What the volume of a pod needs. */
export type EphemeralClaimPlan =
  | { readonly act: 'none' }
  | { readonly act: 'create'; readonly claim: PersistentVolumeClaim }
  /** Another claim has the name. */
  | { readonly act: 'refuse'; readonly reason: string };

export function ephemeralVolumes({ spec }: Pod): Volume[] {
  return (spec?.volumes ?? []).filter(({ ephemeral }) => ephemeral !== undefined);
}

/** `existing`: the claim of the name. */
export function planEphemeralClaim(
  pod: Pod,
  volume: Volume,
  existing: PersistentVolumeClaim | undefined,
): EphemeralClaimPlan {
  const template = volume.ephemeral?.volumeClaimTemplate;
  if (!template || pod.metadata?.deletionTimestamp) return { act: 'none' };
  const name = claimNameOf(pod, volume);
  if (existing) {
    if (isControlledBy(existing, pod)) return { act: 'none' };
    const uid = existing.metadata?.uid;
    const reason = `PVC "${pod.metadata?.namespace}/${name}" (uid: "${uid}") was not created for the pod`;
    return { act: 'refuse', reason };
  }
  const { labels, annotations } = template.metadata ?? {};
  return {
    act: 'create',
    claim: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        ...{ name, namespace: pod.metadata?.namespace },
        ...(labels && { labels }),
        ...(annotations && { annotations }),
        ownerReferences: [controllerReference({ ...pod, apiVersion: 'v1', kind: 'Pod' })],
      },
      ...(template.spec && { spec: template.spec }),
    },
  };
}
