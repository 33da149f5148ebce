/**
 * Writes the volumes that were reserved for a pod, and waits until the volume controller has bound
 * all its claims. Runs before the binding of the pod.
 */
import { isClaimBound, isReachable, selectedNodeKey } from '@orch/apimachinery';
import { type ApiClient, resources } from '@orch/client';
import { type Clock, sleep } from '@orch/component';
import type { PersistentVolumeClaim } from '@orch/types/core/v1';
import type { Cycle } from '../framework/cycle.js';
import { requestTimeoutMs, volumePollMs } from '../limits.js';
import type { NodeInfo } from '../model/node-info.js';
import { type ReservedVolumes, reservedVolumes } from '../plugins/volumes/volume-binding.js';

export interface VolumeBinderDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** Returns the node with its present labels. */
  readonly node: (name: string) => NodeInfo | undefined;
  readonly signal: AbortSignal;
}

export class VolumeBinder {
  constructor(private readonly dependencies: VolumeBinderDependencies) {}

  /** Rejects if the volumes cannot be bound, or `isWanted` returns false, or after `timeoutMs`. */
  async bind(
    cycle: Cycle,
    nodeName: string,
    timeoutMs: number,
    isWanted: () => boolean,
  ): Promise<void> {
    const reserved = cycle.get(reservedVolumes);
    if (!reserved) return;
    const { clock, signal } = this.dependencies;
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    await this.write(reserved);
    while (!this.isComplete(cycle, reserved, nodeName)) {
      if (!isWanted()) throw new Error('the pod was deleted before its volumes were bound');
      if (clock.monotonicMs() >= deadlineMs) {
        throw new Error(`binding volumes: timed out after ${timeoutMs / 1_000} s`);
      }
      await sleep(volumePollMs, signal, clock);
    }
  }

  private async write({ volumes, claims }: ReservedVolumes): Promise<void> {
    const { client } = this.dependencies;
    const options = { timeoutMs: requestTimeoutMs };
    for (const volume of volumes) {
      await client.resource(resources.persistentVolumes).replace(volume, options);
    }
    for (const claim of claims) {
      const { namespace } = claim.metadata ?? {};
      await client.resource(resources.persistentVolumeClaims, namespace).replace(claim, options);
    }
  }

  private isComplete(cycle: Cycle, reserved: ReservedVolumes, nodeName: string): boolean {
    const node = this.dependencies.node(nodeName);
    if (!node) throw new Error(`node ${nodeName} was deleted before the volumes were bound`);
    const { objects } = cycle.context;
    let isComplete = true;
    for (const key of reserved.awaitedClaims) {
      const claim = objects.claim(key);
      if (!claim) throw new Error(`persistentvolumeclaim ${key} was deleted`);
      checkSelection(claim, reserved, key, nodeName);
      const volume = claim.spec?.volumeName ? objects.volume(claim.spec.volumeName) : undefined;
      if (volume && !isReachable(volume, node)) {
        throw new Error(`the volume of claim ${key} cannot be used on node ${nodeName}`);
      }
      isComplete &&= isClaimBound(claim);
    }
    return isComplete;
  }
}

/** A provisioner that fails removes the annotation, so that another node is selected. */
function checkSelection(
  claim: PersistentVolumeClaim,
  { claims }: ReservedVolumes,
  key: string,
  nodeName: string,
): void {
  const isProvisioned = claims.some(
    ({ metadata }) => `${metadata?.namespace}/${metadata?.name}` === key,
  );
  if (!isProvisioned || isClaimBound(claim)) return;
  if (claim.metadata?.annotations?.[selectedNodeKey()] === nodeName) return;
  throw new Error(`provisioning failed for claim ${key}`);
}
