/** Limits of the disks of one cloud that a node can attach. */
import { Quantity, storageClassName } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { PersistentVolume, PersistentVolumeClaim, Volume } from '@orch/types/core/v1';
import { type Plugin, rejection } from '../../framework/plugin.js';
import type { ClusterObjects } from '../../model/cluster-objects.js';
import type { NodeInfo } from '../../model/node-info.js';
import type { PodInfo } from '../../model/pod-info.js';
import { claimReference } from './claims.js';

interface DiskKind {
  readonly plugin: string;
  /** Name of the resource in `status.allocatable` of a node that overrides the default. */
  readonly resource: string;
  /** Name of the provisioner below the key domain of the dialect. */
  readonly provisioner: string;
  readonly defaultMax: (node: NodeInfo) => number;
  readonly idOf: (volume: Volume | PersistentVolume['spec']) => string | undefined;
}

/** Instance types that attach fewer disks, because network cards use the same slots. */
const nitroInstances = /^[cmr]5.*|t3|z1d/;

const kinds: readonly DiskKind[] = [
  {
    plugin: 'EBSLimits',
    resource: 'attachable-volumes-aws-ebs',
    provisioner: 'aws-ebs',
    defaultMax: (node) => (nitroInstances.test(instanceType(node)) ? 25 : 39),
    idOf: (volume) => volume?.awsElasticBlockStore?.volumeID,
  },
  {
    plugin: 'GCEPDLimits',
    resource: 'attachable-volumes-gce-pd',
    provisioner: 'gce-pd',
    defaultMax: () => 16,
    idOf: (volume) => volume?.gcePersistentDisk?.pdName,
  },
  {
    plugin: 'AzureDiskLimits',
    resource: 'attachable-volumes-azure-disk',
    provisioner: 'azure-disk',
    defaultMax: () => 16,
    idOf: (volume) => volume?.azureDisk?.diskName,
  },
  {
    plugin: 'CinderLimits',
    resource: 'attachable-volumes-cinder',
    provisioner: 'cinder',
    defaultMax: () => 256,
    idOf: (volume) => volume?.cinder?.volumeID,
  },
];

export const diskLimitPlugins: readonly Plugin[] = kinds.map(diskLimits);

function instanceType({ labels }: NodeInfo): string {
  return (
    labels[dialect().key('instance-type', 'node')] ??
    labels[dialect().key('instance-type', 'beta')] ??
    ''
  );
}

function diskLimits(kind: DiskKind): Plugin {
  return {
    name: kind.plugin,
    retryOn: ['node added', 'node changed', 'pod removed', 'claim changed', 'volume changed'],
    filter({ pod, context: { objects } }) {
      const wanted = disksOf(pod, kind, objects);
      if (wanted.size === 0) return undefined;
      const rejected = rejection('node(s) exceed max volume count');
      return (node) => {
        const disks = new Set(wanted);
        for (const other of node.pods.values()) {
          for (const disk of disksOf(other, kind, objects)) disks.add(disk);
        }
        return disks.size > attachableMax(kind, node) ? rejected : undefined;
      };
    },
  };
}

function attachableMax(kind: DiskKind, node: NodeInfo): number {
  const limit = node.node?.status?.allocatable?.[kind.resource];
  return limit === undefined ? kind.defaultMax(node) : Number(Quantity.parse(limit).units());
}

/** A claim without volume counts if its class provisions such a disk. */
function disksOf(pod: PodInfo, kind: DiskKind, objects: ClusterObjects): Set<string> {
  const disks = new Set<string>();
  for (const volume of pod.volumes) {
    const id = kind.idOf(volume);
    if (id !== undefined) disks.add(id);
    const reference = claimReference(pod, volume);
    if (!reference) continue;
    const claim = objects.claim(reference.key);
    const volumeName = claim?.spec?.volumeName;
    const persistent = volumeName ? objects.volume(volumeName) : undefined;
    const disk = persistent && kind.idOf(persistent.spec);
    if (disk !== undefined) disks.add(disk);
    else if (!persistent && claim && isProvisioned(claim, kind, objects)) {
      disks.add(`claim ${reference.key}`);
    }
  }
  return disks;
}

function isProvisioned(
  claim: PersistentVolumeClaim,
  kind: DiskKind,
  objects: ClusterObjects,
): boolean {
  const className = storageClassName(claim);
  if (className === '') return false;
  return objects.storageClass(className)?.provisioner === dialect().key(kind.provisioner);
}
