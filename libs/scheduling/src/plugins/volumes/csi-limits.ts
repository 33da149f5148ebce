/** Limits of the volumes that the CSI drivers of a node can attach. */
import { Quantity, storageClassName } from '@orch/apimachinery';
import { type Plugin, rejection } from '../../framework/plugin.js';
import type { ClusterObjects } from '../../model/cluster-objects.js';
import type { NodeInfo } from '../../model/node-info.js';
import type { PodInfo } from '../../model/pod-info.js';
import { claimReferences } from './claims.js';

const limitPrefix = 'attachable-volumes-csi-';

export const nodeVolumeLimits: Plugin = {
  name: 'NodeVolumeLimits',
  retryOn: [
    ...(['node added', 'node changed', 'pod removed'] as const),
    ...(['claim changed', 'volume changed', 'storage node changed'] as const),
  ],
  filter({ pod, context: { objects } }) {
    const wanted = volumesOf(pod, objects);
    if (wanted.size === 0) return undefined;
    const rejected = rejection('node(s) exceed max volume count');
    return (node) => {
      const limits = limitsOf(node, objects);
      if (limits.size === 0) return undefined;
      const attached = new Map<string, string>();
      for (const other of node.pods.values()) {
        for (const [id, driver] of volumesOf(other, objects)) attached.set(id, driver);
      }
      // A volume that is attached already needs no place, even if the limit is exceeded.
      const added = [...wanted].filter(([id]) => !attached.has(id)).map(([, driver]) => driver);
      const counts = new Map<string, number>();
      for (const driver of [...attached.values(), ...added]) {
        counts.set(driver, (counts.get(driver) ?? 0) + 1);
      }
      const isExceeded = added.some(
        (driver) => counts.get(driver)! > (limits.get(driver) ?? Infinity),
      );
      return isExceeded ? rejected : undefined;
    };
  },
};

/** Returns the drivers of the pod's volumes, by an identity of the volume. */
function volumesOf(pod: PodInfo, objects: ClusterObjects): Map<string, string> {
  const drivers = new Map<string, string>();
  for (const { key } of claimReferences(pod)) {
    const claim = objects.claim(key);
    if (!claim) continue;
    const volume = claim.spec?.volumeName ? objects.volume(claim.spec.volumeName) : undefined;
    if (volume) {
      const csi = volume.spec?.csi;
      if (csi) drivers.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver);
      continue;
    }
    // It is provisioned by the driver of the class.
    const provisioner = objects.storageClass(storageClassName(claim))?.provisioner;
    if (provisioner) drivers.set(`${provisioner}/claim ${key}`, provisioner);
  }
  return drivers;
}

/** Returns the limits by driver, as the drivers registered them or as resources of the node. */
function limitsOf(node: NodeInfo, objects: ClusterObjects): Map<string, number> {
  const limits = new Map<string, number>();
  for (const [name, amount] of Object.entries(node.node?.status?.allocatable ?? {})) {
    if (!name.startsWith(limitPrefix)) continue;
    limits.set(name.slice(limitPrefix.length), Number(Quantity.parse(amount).units()));
  }
  for (const { name, allocatable } of objects.csiNode(node.name)?.spec?.drivers ?? []) {
    if (allocatable?.count !== undefined) limits.set(name, allocatable.count);
  }
  return limits;
}
