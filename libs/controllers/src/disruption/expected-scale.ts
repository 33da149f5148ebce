/**
 * The replicas that the controllers of pods want, each controller counted once. Deployments,
 * replica sets, stateful sets and replication controllers come from the cache, others from their
 * `scale` subresource.
 */
import { controllerOf, parseApiVersion } from '@orch/apimachinery';
import { type ApiObject, isNotFound, keyOf, type Lister, resources } from '@orch/client';
import type { Deployment, ReplicaSet, StatefulSet } from '@orch/types/apps/v1';
import type { Pod, ReplicationController } from '@orch/types/core/v1';
import type { OwnerReference } from '@orch/types/meta/v1';
import type { ControllerContext } from '../common/controller.js';
import { ScaleClient, UnknownKindError } from '../common/scale-client.js';

interface Scaled {
  readonly uid: string;
  readonly replicas: number;
}

type Workload = ApiObject & { readonly spec?: { readonly replicas?: number } };

export class ExpectedScale {
  private readonly deployments: Lister<Deployment>;
  private readonly replicaSets: Lister<ReplicaSet>;
  private readonly statefulSets: Lister<StatefulSet>;
  private readonly replicationControllers: Lister<ReplicationController>;
  private readonly scales: ScaleClient;

  constructor({ informers, client, clock }: ControllerContext) {
    this.deployments = informers.informer(resources.deployments).lister;
    this.replicaSets = informers.informer(resources.replicaSets).lister;
    this.statefulSets = informers.informer(resources.statefulSets).lister;
    this.replicationControllers = informers.informer(resources.replicationControllers).lister;
    this.scales = new ScaleClient(client, clock);
  }

  /** Throws if a pod has no controller, or one that does not scale. */
  async of(pods: readonly Pod[]): Promise<number> {
    const seen = new Set<string>();
    const scaleOfUid = new Map<string, number>();
    for (const pod of pods) {
      const { namespace = '', name } = pod.metadata ?? {};
      const owner = controllerOf(pod);
      if (!owner) throw new Error(`found no controller ref for pod "${name}"`);
      if (seen.has(owner.uid)) continue;
      seen.add(owner.uid);
      const scaled = await this.scaleOf(owner, namespace);
      if (!scaled) throw new Error(`found no controllers for pod "${name}"`);
      scaleOfUid.set(scaled.uid, scaled.replicas);
    }
    return [...scaleOfUid.values()].reduce((sum, replicas) => sum + replicas, 0);
  }

  private async scaleOf(owner: OwnerReference, namespace: string): Promise<Scaled | undefined> {
    const { group } = parseApiVersion(owner.apiVersion);
    const key = keyOf(namespace, owner.name);
    if (group === 'apps' || group === 'extensions') {
      if (owner.kind === 'ReplicaSet') return this.replicaSetScale(key, owner.uid);
      if (owner.kind === 'StatefulSet') return scaledOf(this.statefulSets, key, owner.uid);
    }
    if (group === '' && owner.kind === 'ReplicationController') {
      return scaledOf(this.replicationControllers, key, owner.uid);
    }
    return this.subresourceScale(owner, namespace);
  }

  /** A replica set of a deployment counts as the deployment. */
  private replicaSetScale(key: string, uid: string): Scaled | undefined {
    const replicaSet = this.replicaSets.get(key);
    if (replicaSet?.metadata?.uid !== uid) return undefined;
    const owner = controllerOf(replicaSet);
    if (owner?.kind !== 'Deployment') return scaledOf(this.replicaSets, key, uid);
    const deploymentKey = keyOf(replicaSet.metadata?.namespace, owner.name);
    return scaledOf(this.deployments, deploymentKey, owner.uid);
  }

  private async subresourceScale(
    owner: OwnerReference,
    namespace: string,
  ): Promise<Scaled | undefined> {
    try {
      const { scale } = await this.scales.get(namespace, owner);
      if (scale.metadata?.uid !== owner.uid) return undefined;
      return { uid: owner.uid, replicas: scale.spec?.replicas ?? 0 };
    } catch (error) {
      if (error instanceof UnknownKindError) return undefined;
      if (!isNotFound(error)) throw error;
      throw new Error(`${owner.kind} "${owner.name}" does not implement the scale subresource`, {
        cause: error,
      });
    }
  }
}

function scaledOf(
  lister: Pick<Lister<Workload>, 'get'>,
  key: string,
  uid: string,
): Scaled | undefined {
  const object = lister.get(key);
  return object?.metadata?.uid === uid ? { uid, replicas: object.spec?.replicas ?? 1 } : undefined;
}
