/**
 * Read access to the objects that decisions depend on, apart from nodes and pods. All look-ups are
 * in memory. Keys are `namespace/name`, or the name of cluster-scoped objects.
 */
import type { ReplicaSet, StatefulSet } from '@orch/types/apps/v1';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  ReplicationController,
  Service,
} from '@orch/types/core/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import type { CSIDriver, CSINode, StorageClass } from '@orch/types/storage/v1';
import type { CSIStorageCapacity } from '@orch/types/storage/v1beta1';
import type { NamespaceLabels } from './pod-info.js';

export interface ClusterObjects {
  readonly namespaceLabels: NamespaceLabels;
  readonly services: (namespace: string) => readonly Service[];
  readonly replicaSet: (key: string) => ReplicaSet | undefined;
  readonly statefulSet: (key: string) => StatefulSet | undefined;
  readonly replicationController: (key: string) => ReplicationController | undefined;
  readonly budgets: () => readonly PodDisruptionBudget[];
  /** With the changes that reservations assume. */
  readonly claim: (key: string) => PersistentVolumeClaim | undefined;
  /** With the changes that reservations assume. */
  readonly volume: (name: string) => PersistentVolume | undefined;
  readonly volumesOfClass: (className: string) => readonly PersistentVolume[];
  readonly storageClass: (name: string) => StorageClass | undefined;
  readonly csiNode: (name: string) => CSINode | undefined;
  readonly csiDriver: (name: string) => CSIDriver | undefined;
  readonly storageCapacities: () => readonly CSIStorageCapacity[];
}
