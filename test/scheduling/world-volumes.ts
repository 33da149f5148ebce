/**
 * Random volumes of a world: claims that are bound, wait for their pod or are broken, and disks in
 * pods. There are few identities and low limits, so that pods share disks and nodes are full. No
 * two volumes have the same size, because the documentation does not order equal ones.
 */
import { dialect } from '@orch/component';
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '@orch/types/core/v1';
import type { CSINode, StorageClass } from '@orch/types/storage/v1';
import type { Random } from '../simulation/random.js';

export interface WorldVolumes {
  readonly claims: readonly PersistentVolumeClaim[];
  readonly volumes: readonly PersistentVolume[];
  readonly classes: readonly StorageClass[];
  readonly csiNodes: readonly CSINode[];
}

export const driver = 'driver.example.com';
export const ebsResource = 'attachable-volumes-aws-ebs';
export const csiResource = `attachable-volumes-csi-${driver}`;
export const noProvisioner = () => dialect().key('no-provisioner');
export const ebsProvisioner = () => dialect().key('aws-ebs');
export const boundKey = () => dialect().key('bind-completed', 'pv');
export const selectedKey = () => dialect().key('selected-node', 'volume');

const limits = { volumes: 6, claims: 8, claimsOfPod: 2 };
const namespaces = ['n1', 'n2'];
const classNames = ['static', 'dynamic', 'ebs', 'immediate'];
const zoneLabel = () => dialect().key('zone', 'topology');

export function randomVolumes(random: Random, nodes: readonly string[]): WorldVolumes {
  const volumes = Array.from({ length: random.integer(limits.volumes + 1) }, (_, at) =>
    volume(random, at),
  );
  const claims = Array.from({ length: random.integer(limits.claims + 1) }, (_, at) =>
    claim(random, at, nodes),
  );
  return {
    claims: claims.map((each) => (random.chance(0.5) ? bound(random, each, volumes) : each)),
    volumes: volumes.map((each) => (random.chance(0.2) ? reserved(random, each, claims) : each)),
    classes: classNames.map((name) => storageClass(random, name)),
    csiNodes: nodes
      .filter(() => random.chance(0.4))
      .map((name) => ({
        metadata: { name },
        spec: { drivers: [{ name: driver, nodeID: name, allocatable: { count: limit(random) } }] },
      })),
  };
}

const limit = (random: Random): number => random.integer(3);

/** The limits of a node as named resources. */
export function volumeLimits(random: Random): Record<string, string> {
  return {
    ...(random.chance(0.4) && { [ebsResource]: String(limit(random)) }),
    ...(random.chance(0.2) && { [csiResource]: String(limit(random)) }),
  };
}

export function withVolumes(random: Random, pod: Pod): Pod {
  if (!random.chance(0.4)) return pod;
  const count = 1 + random.integer(limits.claimsOfPod);
  const volumes = Array.from({ length: count }, (_, at) => podVolume(random, `data-${at}`));
  return { ...pod, spec: { ...pod.spec, volumes } } as Pod;
}

function podVolume(random: Random, name: string): Volume {
  const readOnly = random.chance(0.5);
  const id = random.pick(['d1', 'd2', 'd3']);
  return random.pick<() => Volume>([
    ...Array.from({ length: 6 }, () => () => ({
      name,
      persistentVolumeClaim: { claimName: `c${random.integer(limits.claims)}` },
    })),
    () => ({ name, awsElasticBlockStore: { volumeID: id, readOnly } }),
    () => ({ name, gcePersistentDisk: { pdName: id, readOnly } }),
    () => ({ name, iscsi: { targetPortal: 't', iqn: id, lun: 0, readOnly } }),
    () => ({
      name,
      rbd: {
        monitors: random.pick([['m1'], ['m2'], ['m1', 'm2']]),
        ...(random.chance(0.5) && { pool: random.pick(['rbd', 'fast']) }),
        ...{ image: id, readOnly },
      },
    }),
  ])();
}

function storageClass(random: Random, name: string): StorageClass {
  const provisioners: Record<string, string> = {
    static: noProvisioner(),
    ebs: ebsProvisioner(),
  };
  return {
    metadata: { name },
    provisioner: provisioners[name] ?? driver,
    volumeBindingMode: name === 'immediate' ? 'Immediate' : 'WaitForFirstConsumer',
    ...(random.chance(0.3) && {
      allowedTopologies: [
        { matchLabelExpressions: [{ key: zoneLabel(), values: [random.pick(['z1', 'z2'])] }] },
      ],
    }),
  };
}

function volume(random: Random, at: number): PersistentVolume {
  const zone = random.pick(['z1', 'z2', 'z3']);
  const terms = [{ matchExpressions: [{ key: zoneLabel(), operator: 'In', values: [zone] }] }];
  const sources = [
    { csi: { driver, volumeHandle: `handle-${at}` } },
    { awsElasticBlockStore: { volumeID: `d${1 + random.integer(4)}` } },
    { hostPath: { path: '/data' } },
  ];
  return {
    metadata: {
      name: `v${at}`,
      labels: {
        ...(random.chance(0.3) && { [zoneLabel()]: random.pick([zone, `${zone}__z1`]) }),
        ...(random.chance(0.5) && { kind: 'fast' }),
      },
      ...(random.chance(0.05) && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      ...random.pick(sources),
      capacity: { storage: `${1 + ((at * 5) % 7)}Gi` },
      accessModes: random.pick([['ReadWriteOnce'], ['ReadWriteOnce', 'ReadOnlyMany']]),
      storageClassName: random.pick(classNames),
      ...(random.chance(0.1) && { volumeMode: 'Block' }),
      ...(random.chance(0.4) && { nodeAffinity: { required: { nodeSelectorTerms: terms } } }),
    },
    status: { phase: random.pick(['Available', 'Available', 'Available', 'Released']) },
  };
}

function claim(random: Random, at: number, nodes: readonly string[]): PersistentVolumeClaim {
  const name = `c${at}`;
  return {
    metadata: {
      ...{ name, namespace: random.pick(namespaces), uid: `uid-${name}` },
      ...(random.chance(0.1) && { annotations: { [selectedKey()]: random.pick(nodes) } }),
      ...(random.chance(0.03) && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      accessModes: [random.pick(['ReadWriteOnce', 'ReadWriteOnce', 'ReadOnlyMany'])],
      resources: { requests: { storage: `${1 + random.integer(5)}Gi` } },
      // A class that does not exist, rarely.
      storageClassName: random.chance(0.05) ? 'unknown' : random.pick(classNames),
      ...(random.chance(0.1) && { volumeMode: 'Block' }),
      ...(random.chance(0.2) && { selector: { matchLabels: { kind: 'fast' } } }),
    },
  };
}

/** Sometimes to a volume that does not exist, sometimes not completely. */
function bound(
  random: Random,
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolumeClaim {
  const names = volumes.map(({ metadata }) => metadata?.name ?? '');
  const volumeName = random.chance(0.05) ? 'missing' : random.pick([...names, 'missing']);
  const annotations = random.chance(0.95) ? { [boundKey()]: 'yes' } : {};
  return {
    ...claim,
    metadata: { ...claim.metadata, annotations },
    spec: { ...claim.spec, volumeName },
  };
}

/** For a claim, or for an earlier claim of the same name. */
function reserved(
  random: Random,
  volume: PersistentVolume,
  claims: readonly PersistentVolumeClaim[],
): PersistentVolume {
  if (claims.length === 0) return volume;
  const { name, namespace, uid } = random.pick(claims).metadata ?? {};
  const claimRef = {
    ...{ name, namespace },
    ...(random.chance(0.6) && { uid: random.chance(0.8) ? uid : 'earlier' }),
  };
  return { ...volume, spec: { ...volume.spec, claimRef } };
}
