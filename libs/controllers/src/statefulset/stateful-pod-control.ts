/** Creates, repairs and deletes the pods and claims of stateful sets, with upstream's events. */
import {
  type ApiClient,
  type EventRecorder,
  type Informer,
  isAlreadyExists,
  isNotFound,
  keyOf,
  type ResourceClient,
  resources,
} from '@orch/client';
import type { StatefulSet } from '@orch/types/apps/v1';
import type { PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import { messageOf } from '../common/expected-errors.js';
import { claimsOf, withIdentity } from './stateful-pod.js';

type Verb = 'create' | 'update' | 'delete';

const reasons = { create: 'Create', update: 'Update', delete: 'Delete' } as const;

export interface StatefulPodControlDependencies {
  readonly client: ApiClient;
  readonly recorder: EventRecorder;
  readonly claims: Informer<PersistentVolumeClaim>;
}

export class StatefulPodControl {
  constructor(private readonly dependencies: StatefulPodControlDependencies) {}

  /** Creates the claims of the ordinal, then the pod. @returns the stored pod. */
  async create(set: StatefulSet, ordinal: number, pod: Pod): Promise<Pod> {
    const name = pod.metadata?.name ?? '';
    return this.recorded('create', set, name, async () => {
      await this.createClaims(set, ordinal, name);
      return this.podsOf(set).create(pod);
    });
  }

  /** Restores the label, the volumes and the claims of the pod. */
  async repair(set: StatefulSet, ordinal: number, pod: Pod): Promise<void> {
    const name = pod.metadata?.name ?? '';
    await this.recorded('update', set, name, async () => {
      await this.createClaims(set, ordinal, name);
      await this.podsOf(set).replace(withIdentity(set, ordinal, pod));
    });
  }

  async delete(set: StatefulSet, pod: Pod): Promise<void> {
    const { name = '', uid } = pod.metadata ?? {};
    await this.recorded('delete', set, name, async () => {
      await this.podsOf(set).delete(name, { preconditions: { uid } });
    });
  }

  /** Notes that a failed pod is about to be deleted. */
  announceReplacement(set: StatefulSet, pod: Pod): void {
    const { namespace, name } = set.metadata ?? {};
    const message = `StatefulSet ${namespace}/${name} is recreating failed Pod ${pod.metadata?.name}`;
    this.dependencies.recorder.event(set, 'Warning', 'RecreatingFailedPod', message);
  }

  private async recorded<R>(
    verb: Verb,
    set: StatefulSet,
    podName: string,
    act: () => Promise<R>,
  ): Promise<R> {
    const subject = `${verb} Pod ${podName} in StatefulSet ${set.metadata?.name}`;
    const { recorder } = this.dependencies;
    try {
      const result = await act();
      recorder.event(set, 'Normal', `Successful${reasons[verb]}`, `${subject} successful`);
      return result;
    } catch (error) {
      // The cache is behind: the request has taken effect already.
      const isStale = verb === 'create' ? isAlreadyExists(error) : isNotFound(error);
      const message = `${subject} failed error: ${messageOf(error)}`;
      if (!isStale) recorder.event(set, 'Warning', `Failed${reasons[verb]}`, message);
      throw error;
    }
  }

  private async createClaims(set: StatefulSet, ordinal: number, podName: string): Promise<void> {
    for (const claim of claimsOf(set, ordinal)) {
      const name = claim.metadata?.name ?? '';
      const existing = this.dependencies.claims.lister.get(keyOf(set.metadata?.namespace, name));
      if (!existing) await this.createClaim(set, claim, podName);
      else if (existing.metadata?.deletionTimestamp)
        throw new Error(`pvc ${name} is being deleted`);
      else this.noteOtherSize(set, claim, existing);
    }
  }

  private async createClaim(
    set: StatefulSet,
    claim: PersistentVolumeClaim,
    podName: string,
  ): Promise<void> {
    const { recorder, client } = this.dependencies;
    const setName = set.metadata?.name;
    const name = claim.metadata?.name;
    try {
      await client
        .resource(resources.persistentVolumeClaims, set.metadata?.namespace)
        .create(claim);
      const message = `create Claim ${name} Pod ${podName} in StatefulSet ${setName} success`;
      recorder.event(set, 'Normal', 'SuccessfulCreate', message);
    } catch (error) {
      // Created by an earlier reconciliation; the cache has not seen it yet.
      if (isAlreadyExists(error)) return;
      const message = `create Claim ${name} for Pod ${podName} in StatefulSet ${setName} failed error: ${messageOf(error)}`;
      recorder.event(set, 'Warning', 'FailedCreate', message);
      throw new Error(`failed to create PVC ${name}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** A claim stays as it is when its template changes: the event reports the difference. */
  private noteOtherSize(
    set: StatefulSet,
    wanted: PersistentVolumeClaim,
    { spec, metadata }: PersistentVolumeClaim,
  ): void {
    const size = spec?.resources?.requests?.storage;
    const wantedSize = wanted.spec?.resources?.requests?.storage;
    if (size === wantedSize) return;
    const message = `Claim ${metadata?.name} requests ${size ?? 'no'} storage, its template ${wantedSize ?? 'none'}: the claim is used as it is`;
    this.dependencies.recorder.event(set, 'Warning', 'ClaimDiffers', message);
  }

  private podsOf(set: StatefulSet): ResourceClient<Pod> {
    return this.dependencies.client.resource(resources.pods, set.metadata?.namespace);
  }
}
