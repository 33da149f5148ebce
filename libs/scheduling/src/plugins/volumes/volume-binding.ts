/**
 * Claims of the pod: bound ones must be reachable from the node, those of classes that wait for the
 * first consumer are bound or provisioned there. Reserve assumes the result, so that the next pod
 * does not get the same volume; PreBind, in the shell, writes it and waits for the volume
 * controller.
 *
 * Interface with that controller: the scheduler writes `claimRef` of a volume, with the annotation
 * `pv.<domain>/bound-by-controller`, or the annotation `volume.<domain>/selected-node` of a claim;
 * the controller completes the binding and sets `pv.<domain>/bind-completed` on the claim.
 */
import {
  boundByControllerKey,
  claimRequest,
  isClaimBound,
  isControlledBy,
  isReservedFor,
  selectedNodeKey,
} from '@orch/apimachinery';
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import { type Cycle, StateKey } from '../../framework/cycle.js';
import { finalRejection, type Plugin, type Rejection } from '../../framework/plugin.js';
import type { ClusterObjects } from '../../model/cluster-objects.js';
import type { PodInfo } from '../../model/pod-info.js';
import { claimKey, claimReferences, waitsForConsumer } from './claims.js';
import { decideVolumes, type PodClaims, type VolumeDecision } from './volume-decision.js';

/** Changed objects that PreBind writes. */
export interface ReservedVolumes {
  readonly volumes: readonly PersistentVolume[];
  readonly claims: readonly PersistentVolumeClaim[];
  /** Keys of the claims that must be bound before the pod. */
  readonly awaitedClaims: readonly string[];
}

/** Undefined if all claims of the pod are bound. */
export const reservedVolumes = new StateKey<ReservedVolumes | undefined>('reserved volumes');
const claimsState = new StateKey<PodClaims | Rejection | undefined>('claims');

export const volumeBinding: Plugin = {
  name: 'VolumeBinding',
  retryOn: [
    ...(['node added', 'node changed', 'claim changed', 'volume changed'] as const),
    ...(['storage class changed', 'storage node changed', 'storage capacity changed'] as const),
  ],
  preFilter(cycle) {
    const claims = podClaims(cycle);
    return claims && 'reasons' in claims ? claims : undefined;
  },
  filter(cycle) {
    const claims = podClaims(cycle);
    if (!claims) return undefined;
    if ('reasons' in claims) return () => claims;
    return (node) => {
      const decision = decideVolumes(claims, node, cycle.context.objects);
      return 'reasons' in decision ? decision : undefined;
    };
  },
  reserve(cycle, node) {
    const claims = podClaims(cycle);
    if (!claims) return undefined;
    if ('reasons' in claims) return claims;
    const decision = decideVolumes(claims, node, cycle.context.objects);
    if ('reasons' in decision) return decision;
    const reserved = cycle.once(reservedVolumes, () => reservation(decision, node.name));
    const { volumes, claims: assumedClaims } = cycle.context.assumptions;
    for (const volume of reserved?.volumes ?? []) {
      volumes.assume(volume.metadata?.name ?? '', volume);
    }
    for (const claim of reserved?.claims ?? []) assumedClaims.assume(claimKey(claim), claim);
    return undefined;
  },
  unreserve(cycle) {
    const reserved = cycle.get(reservedVolumes);
    const { volumes, claims } = cycle.context.assumptions;
    for (const volume of reserved?.volumes ?? []) volumes.restore(volume.metadata?.name ?? '');
    for (const claim of reserved?.claims ?? []) claims.restore(claimKey(claim));
  },
};

/** Returns undefined if the pod has no claims. */
function podClaims(cycle: Cycle): PodClaims | Rejection | undefined {
  return cycle.once(claimsState, () => classify(cycle.pod, cycle.context.objects));
}

function classify(pod: PodInfo, objects: ClusterObjects): PodClaims | Rejection | undefined {
  const references = claimReferences(pod);
  if (references.length === 0) return undefined;
  const claims: PersistentVolumeClaim[] = [];
  for (const { name, key, isEphemeral } of references) {
    const claim = objects.claim(key);
    const text = `persistentvolumeclaim "${name}"`;
    if (!claim) return finalRejection(`${text} not found`);
    if (claim.metadata?.deletionTimestamp) return finalRejection(`${text} is being deleted`);
    if (isEphemeral && !isControlledBy(claim, pod.pod)) {
      return finalRejection(`${text} was not created for the pod`);
    }
    claims.push(claim);
  }
  const unbound = claims.filter((claim) => !isClaimBound(claim));
  if (unbound.some((claim) => claim.spec?.volumeName || !waitsForConsumer(claim, objects))) {
    return finalRejection('pod has unbound immediate PersistentVolumeClaims');
  }
  return {
    bound: claims.filter(isClaimBound),
    waiting: unbound.sort((a, b) => Number(claimRequest(a) - claimRequest(b))),
  };
}

function reservation(decision: VolumeDecision, node: string): ReservedVolumes | undefined {
  const { bindings, provisions } = decision;
  if (bindings.length + provisions.length === 0) return undefined;
  return {
    volumes: bindings.flatMap(({ claim, volume }) => {
      const isComplete = isReservedFor(volume, claim) && volume.spec?.claimRef?.uid;
      return isComplete ? [] : [withClaim(volume, claim)];
    }),
    claims: provisions
      .filter((claim) => claim.metadata?.annotations?.[selectedNodeKey()] !== node)
      .map((claim) => withNode(claim, node)),
    awaitedClaims: [...bindings.map(({ claim }) => claim), ...provisions].map(claimKey),
  };
}

function withClaim(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const { namespace, name, uid, resourceVersion } = claim.metadata ?? {};
  // A reservation by hand is not released with the claim.
  const annotations = volume.spec?.claimRef
    ? volume.metadata?.annotations
    : { ...volume.metadata?.annotations, [boundByControllerKey()]: 'yes' };
  return {
    ...volume,
    metadata: { ...volume.metadata, ...(annotations && { annotations }) },
    spec: {
      ...volume.spec,
      claimRef: {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
        ...{ namespace, name, uid, resourceVersion },
      },
    },
  };
}

function withNode(claim: PersistentVolumeClaim, node: string): PersistentVolumeClaim {
  const annotations = { ...claim.metadata?.annotations, [selectedNodeKey()]: node };
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}
