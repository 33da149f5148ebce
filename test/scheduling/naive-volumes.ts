/**
 * Whether a node takes the volumes of a pod, straight from the documentation: claims and their
 * volumes, zones of volumes, disks that only one pod may use, and limits of attached volumes.
 */
import { dialect } from '@orch/component';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import { amountOf, labelsOf, namespaceOf, selectsLabels, termMatches } from './naive-matching.js';
import type { World } from './world.js';
import {
  boundKey,
  csiResource,
  driver,
  ebsProvisioner,
  ebsResource,
  noProvisioner,
  selectedKey,
} from './world-volumes.js';

const ebsMax = 39;

export function takesVolumes(world: World, node: Node, others: readonly Pod[]): boolean {
  return (
    sharesDisks(world.incoming, others) &&
    keepsEbsLimit(world, node, others) &&
    keepsCsiLimit(world, node, others) &&
    reachesClaims(world, node) &&
    isInZones(world, node)
  );
}

const claimNames = (pod: Pod): string[] =>
  (pod.spec?.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  );

function claimsOf(world: World, pod: Pod): (PersistentVolumeClaim | undefined)[] {
  return claimNames(pod).map((name) =>
    world.claims.find(
      ({ metadata }) => metadata?.name === name && metadata.namespace === namespaceOf(pod),
    ),
  );
}

const volumeOf = (world: World, claim: PersistentVolumeClaim): PersistentVolume | undefined =>
  world.volumes.find(({ metadata }) => metadata?.name === claim.spec?.volumeName);

const classOf = (world: World, claim: PersistentVolumeClaim) =>
  world.classes.find(({ metadata }) => metadata?.name === claim.spec?.storageClassName);

/** A disk may have several pods on a node only if all of them read it; EBS never. */
function sharesDisks(incoming: Pod, others: readonly Pod[]): boolean {
  const existing = others.flatMap(({ spec }) => spec?.volumes ?? []);
  return (incoming.spec?.volumes ?? []).every((a) =>
    existing.every((b) => {
      if (a.awsElasticBlockStore && b.awsElasticBlockStore) {
        return a.awsElasticBlockStore.volumeID !== b.awsElasticBlockStore.volumeID;
      }
      const reads = (...sources: ({ readOnly?: boolean } | undefined)[]) =>
        sources.every((source) => source?.readOnly);
      if (a.gcePersistentDisk && b.gcePersistentDisk) {
        const isSame = a.gcePersistentDisk.pdName === b.gcePersistentDisk.pdName;
        return !isSame || reads(a.gcePersistentDisk, b.gcePersistentDisk);
      }
      if (a.iscsi && b.iscsi) return a.iscsi.iqn !== b.iscsi.iqn || reads(a.iscsi, b.iscsi);
      if (!a.rbd || !b.rbd) return true;
      const { monitors = [] } = a.rbd;
      const isSame =
        a.rbd.image === b.rbd.image &&
        (a.rbd.pool ?? 'rbd') === (b.rbd.pool ?? 'rbd') &&
        monitors.some((monitor) => b.rbd?.monitors?.includes(monitor));
      return !isSame || reads(a.rbd, b.rbd);
    }),
  );
}

/** Disks by identity. A claim without volume counts if its class provisions such a disk. */
function ebsDisks(world: World, pod: Pod): string[] {
  const direct = (pod.spec?.volumes ?? []).flatMap(
    ({ awsElasticBlockStore }) => awsElasticBlockStore?.volumeID ?? [],
  );
  const claimed = claimsOf(world, pod).flatMap((claim) => {
    if (!claim) return [];
    const volume = volumeOf(world, claim);
    if (volume) return volume.spec?.awsElasticBlockStore?.volumeID ?? [];
    const isEbs = classOf(world, claim)?.provisioner === ebsProvisioner();
    return isEbs ? [`claim ${namespaceOf(pod)}/${claim.metadata?.name}`] : [];
  });
  return [...direct, ...claimed];
}

function keepsEbsLimit(world: World, node: Node, others: readonly Pod[]): boolean {
  const wanted = ebsDisks(world, world.incoming);
  if (wanted.length === 0) return true;
  const text = node.status?.allocatable?.[ebsResource];
  const all = new Set([...wanted, ...others.flatMap((pod) => ebsDisks(world, pod))]);
  return all.size <= (text === undefined ? ebsMax : amountOf(text));
}

function csiVolumes(world: World, pod: Pod): string[] {
  return claimsOf(world, pod).flatMap((claim) => {
    if (!claim) return [];
    const volume = volumeOf(world, claim);
    if (volume) return volume.spec?.csi?.volumeHandle ?? [];
    const isDriver = classOf(world, claim)?.provisioner === driver;
    return isDriver ? [`claim ${namespaceOf(pod)}/${claim.metadata?.name}`] : [];
  });
}

/** The limit that the driver has registered, otherwise that of the node. */
function keepsCsiLimit(world: World, node: Node, others: readonly Pod[]): boolean {
  const registered = world.csiNodes.find(({ metadata }) => metadata?.name === node.metadata?.name);
  const text = node.status?.allocatable?.[csiResource];
  const limit =
    registered?.spec?.drivers?.[0]?.allocatable?.count ??
    (text === undefined ? Number.POSITIVE_INFINITY : amountOf(text));
  const attached = new Set(others.flatMap((pod) => csiVolumes(world, pod)));
  const added = new Set(
    csiVolumes(world, world.incoming).filter((volume) => !attached.has(volume)),
  );
  return added.size === 0 || attached.size + added.size <= limit;
}

const isBound = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  Boolean(spec?.volumeName) && metadata?.annotations?.[boundKey()] !== undefined;

function isReachable({ spec }: PersistentVolume, node: Node): boolean {
  const required = spec?.nodeAffinity?.required;
  return !required || (required.nodeSelectorTerms ?? []).some((term) => termMatches(term, node));
}

function reachesClaims(world: World, node: Node): boolean {
  const waiting: PersistentVolumeClaim[] = [];
  for (const claim of claimsOf(world, world.incoming)) {
    if (!claim || claim.metadata?.deletionTimestamp) return false;
    if (isBound(claim)) {
      const volume = volumeOf(world, claim);
      if (!volume || !isReachable(volume, node)) return false;
      continue;
    }
    const mode = classOf(world, claim)?.volumeBindingMode;
    if (claim.spec?.volumeName || mode !== 'WaitForFirstConsumer') return false;
    waiting.push(claim);
  }
  return bindsWaiting(world, node, waiting);
}

const sizeOf = (claim: PersistentVolumeClaim): number =>
  amountOf(claim.spec?.resources?.requests?.storage);
const capacityOf = ({ spec }: PersistentVolume): number => amountOf(spec?.capacity?.storage);

/** The smallest claim chooses first; what finds no volume is provisioned. */
function bindsWaiting(
  world: World,
  node: Node,
  waiting: readonly PersistentVolumeClaim[],
): boolean {
  const taken: PersistentVolume[] = [];
  return [...waiting]
    .sort((a, b) => sizeOf(a) - sizeOf(b))
    .every((claim) => {
      const selected = claim.metadata?.annotations?.[selectedKey()];
      if (selected !== undefined) {
        return selected === node.metadata?.name && provisions(world, node, claim);
      }
      const free = world.volumes.filter((volume) => !taken.includes(volume));
      const volume = suitable(free, claim, node);
      if (!volume) return provisions(world, node, claim);
      taken.push(volume);
      return true;
    });
}

/** A volume that is reserved for the claim, otherwise the smallest that fits. */
function suitable(
  free: readonly PersistentVolume[],
  claim: PersistentVolumeClaim,
  node: Node,
): PersistentVolume | undefined {
  const { name, namespace, uid } = claim.metadata ?? {};
  const fitting = free.filter(
    (volume) =>
      volume.spec?.storageClassName === claim.spec?.storageClassName &&
      capacityOf(volume) >= sizeOf(claim) &&
      (volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem') &&
      !volume.metadata?.deletionTimestamp,
  );
  const own = fitting.find(({ spec }) => {
    const reference = spec?.claimRef;
    const isNamed = reference?.name === name && reference?.namespace === namespace;
    return isNamed && (!reference?.uid || reference.uid === uid);
  });
  if (own) return isReachable(own, node) ? own : undefined;
  return fitting
    .filter(({ spec, status }) => !spec?.claimRef && status?.phase === 'Available')
    .filter(
      ({ metadata }) =>
        !claim.spec?.selector || selectsLabels(claim.spec.selector, metadata?.labels ?? {}),
    )
    .filter(({ spec }) =>
      (claim.spec?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode)),
    )
    .filter((volume) => isReachable(volume, node))
    .sort((a, b) => capacityOf(a) - capacityOf(b))[0];
}

function provisions(world: World, node: Node, claim: PersistentVolumeClaim): boolean {
  const { provisioner, allowedTopologies = [] } = classOf(world, claim)!;
  if (provisioner === noProvisioner()) return false;
  if (allowedTopologies.length === 0) return true;
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key = '', values = [] }) =>
      values.includes(labelsOf(node)[key] ?? ''),
    ),
  );
}

/** A node without zone and region is in every zone. */
function isInZones(world: World, node: Node): boolean {
  const key = dialect().key('zone', 'topology');
  const zone = labelsOf(node)[key];
  if (zone === undefined) return true;
  return claimsOf(world, world.incoming).every((claim) => {
    const volume = claim && volumeOf(world, claim);
    const zones = volume?.metadata?.labels?.[key];
    return zones === undefined || zones.split('__').includes(zone);
  });
}
