/**
 * The objects that decisions depend on, from informers. A kind that the server does not serve has
 * no objects.
 */
import { storageClassName } from '@orch/apimachinery';
import {
  type ApiObject,
  type Informer,
  type InformerFactory,
  type Lister,
  type ResourceRef,
  resources,
} from '@orch/client';
import type { PersistentVolume } from '@orch/types/core/v1';
import type { VolumeAssumptions } from '../framework/cycle.js';
import type { ClusterObjects } from '../model/cluster-objects.js';
import { claimKey } from '../plugins/volumes/claims.js';

export type IsServed = (resource: ResourceRef<ApiObject>) => boolean;

/** The informers whose events may make pods schedulable; undefined if the kind is not served. */
export interface ObjectInformers {
  readonly claims?: Informer<NonNullable<ReturnType<ClusterObjects['claim']>>>;
  readonly volumes?: Informer<PersistentVolume>;
  readonly storageClasses?: Informer<NonNullable<ReturnType<ClusterObjects['storageClass']>>>;
  readonly csiNodes?: Informer<NonNullable<ReturnType<ClusterObjects['csiNode']>>>;
  readonly csiDrivers?: Informer<NonNullable<ReturnType<ClusterObjects['csiDriver']>>>;
  readonly capacities?: Informer<ReturnType<ClusterObjects['storageCapacities']>[number]>;
  readonly services?: Informer<ReturnType<ClusterObjects['services']>[number]>;
}

const byClass = 'storage class';

export interface FollowedObjects {
  readonly objects: ClusterObjects;
  readonly informers: ObjectInformers;
}

/** Must be called once, before the informers start. */
export function followObjects(
  factory: InformerFactory,
  isServed: IsServed,
  assumptions: VolumeAssumptions,
): FollowedObjects {
  const follow = <T extends ApiObject>(resource: ResourceRef<T>): Informer<T> | undefined =>
    isServed(resource) ? factory.informer(resource) : undefined;
  const listerOf = <T extends ApiObject>(resource: ResourceRef<T>): Lister<T> | undefined =>
    follow(resource)?.lister;
  const informers = {
    claims: follow(resources.persistentVolumeClaims),
    volumes: follow(resources.persistentVolumes),
    storageClasses: follow(resources.storageClasses),
    csiNodes: follow(resources.csiNodes),
    csiDrivers: follow(resources.csiDrivers),
    capacities: follow(resources.csiStorageCapacities),
    services: follow(resources.services),
  };
  informers.volumes?.addIndex(byClass, (volume) => [storageClassName(volume)]);
  informers.volumes?.addHandlers({
    onDelete: ({ metadata }) => assumptions.volumes.restore(metadata?.name ?? ''),
  });
  informers.claims?.addHandlers({
    onDelete: (claim) => assumptions.claims.restore(claimKey(claim)),
  });
  const volumes = informers.volumes?.lister;
  const namespaces = listerOf(resources.namespaces);
  const replicaSets = listerOf(resources.replicaSets);
  const statefulSets = listerOf(resources.statefulSets);
  const controllers = listerOf(resources.replicationControllers);
  const budgets = listerOf(resources.podDisruptionBudgets);
  const withAssumption = (volume: PersistentVolume) =>
    assumptions.volumes.apply(volume.metadata?.name ?? '', volume)!;
  return {
    informers,
    objects: {
      namespaceLabels: (name) => namespaces?.get(name)?.metadata?.labels,
      services: (namespace) => informers.services?.lister.list(namespace) ?? [],
      replicaSet: (key) => replicaSets?.get(key),
      statefulSet: (key) => statefulSets?.get(key),
      replicationController: (key) => controllers?.get(key),
      budgets: () => budgets?.list() ?? [],
      claim: (key) => {
        const claim = informers.claims?.lister.get(key);
        return claim && assumptions.claims.apply(claimKey(claim), claim);
      },
      volume: (name) => {
        const volume = volumes?.get(name);
        return volume && withAssumption(volume);
      },
      volumesOfClass: (name) => volumes?.byIndex(byClass, name).map(withAssumption) ?? [],
      storageClass: (name) => informers.storageClasses?.lister.get(name),
      csiNode: (name) => informers.csiNodes?.lister.get(name),
      csiDriver: (name) => informers.csiDrivers?.lister.get(name),
      storageCapacities: () => informers.capacities?.lister.list() ?? [],
    },
  };
}
