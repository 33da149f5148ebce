import type { PersistentVolume, PersistentVolumeClaim, Volume } from '@orch/types/core/v1';
import type { StorageClass } from '@orch/types/storage/v1';
import { describe, expect, it } from 'vitest';
import type { ClusterObjects } from '../../model/cluster-objects.js';
import { podInfo } from '../../model/pod-info.js';
import {
  clusterOf,
  cycleOf,
  decide,
  info,
  node,
  pod,
  profileOf,
  reasonsOf,
} from '../../testing/builders.js';
import { nodeVolumeLimits } from './csi-limits.js';
import { diskLimitPlugins } from './disk-limits.js';
import { reservedVolumes, volumeBinding } from './volume-binding.js';
import { volumeRestrictions } from './volume-restrictions.js';
import { volumeZone } from './volume-zone.js';

const bound = { 'pv.orch.io/bind-completed': 'yes' };

function claim(name: string, spec: object, annotations: Record<string, string> = {}) {
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '1', annotations },
    spec: { resources: { requests: { storage: '5Gi' } }, ...spec },
  } as PersistentVolumeClaim;
}

function volume(name: string, size: string, on?: string, spec: object = {}) {
  return {
    metadata: { name, resourceVersion: '1' },
    spec: {
      capacity: { storage: size },
      storageClassName: 'late',
      ...(on && {
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'host', operator: 'In', values: [on] }] },
            ],
          },
        },
      }),
      ...spec,
    },
    status: { phase: 'Available' },
  } as PersistentVolume;
}

interface Stored {
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly volumes?: readonly PersistentVolume[];
  readonly provisioner?: string;
  readonly objects?: Partial<ClusterObjects>;
}

function objectsOf({ claims = [], volumes = [], provisioner, objects }: Stored) {
  const late: StorageClass = {
    metadata: { name: 'late' },
    provisioner: provisioner ?? 'orch.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  };
  return {
    claim: (key: string) => claims.find((one) => key === `default/${one.metadata?.name}`),
    volume: (name: string) => volumes.find((one) => one.metadata?.name === name),
    volumesOfClass: (name: string) => volumes.filter((one) => one.spec?.storageClassName === name),
    storageClass: (name: string) => (name === 'late' ? late : undefined),
    ...objects,
  };
}

const hosts = () => clusterOf(...['a', 'b'].map((name) => node(name, { labels: { host: name } })));
const using = (...names: string[]) =>
  info({
    spec: {
      volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    },
  });
const decideWith = (stored: Stored, ...names: string[]) =>
  decide(cycleOf(using(...names), hosts(), { objects: objectsOf(stored) }), profileOf());

describe('VolumeBinding', () => {
  it('rejects pods with missing, terminating and unbound claims on all nodes', () => {
    const ending = claim('ending', {});
    ending.metadata!.deletionTimestamp = '2021-01-01T00:00:00Z';
    const claims = [ending, claim('unbound', { storageClassName: 'none' })];
    expect(decideWith({ claims }, 'missing')).toContain('2 persistentvolumeclaim "missing" not');
    expect(decideWith({ claims }, 'ending')).toContain('"ending" is being deleted');
    expect(decideWith({ claims }, 'unbound')).toContain('2 pod has unbound immediate');
  });

  it('requires the node of a bound volume', () => {
    const claims = [claim('c', { volumeName: 'v' }, bound)];
    expect(decideWith({ claims, volumes: [volume('v', '5Gi', 'b')] }, 'c')).toBe('b');
    expect(decideWith({ claims }, 'c')).toContain('pvc(s) bound to non-existent pv(s)');
  });

  it('reserves the smallest volume that fits, which the next pod does not get', () => {
    const claims = [claim('c', { storageClassName: 'late' })];
    const volumes = [volume('large', '50Gi', 'b'), volume('fits', '5Gi', 'b'), volume('s', '1Gi')];
    const cluster = hosts();
    const cycle = cycleOf(using('c'), cluster, { objects: objectsOf({ claims, volumes }) });
    expect(decide(cycle)).toBe('b');
    volumeBinding.reserve!(cycle, cluster.snapshot().node('b')!);
    const reserved = cycle.get(reservedVolumes)!;
    expect(reserved.awaitedClaims).toEqual(['default/c']);
    expect(reserved.volumes[0]).toMatchObject({
      metadata: { name: 'fits', annotations: { 'pv.orch.io/bound-by-controller': 'yes' } },
      spec: { claimRef: { name: 'c', uid: 'uid-c' } },
    });
    const { assumptions } = cycle.context;
    expect(assumptions.volumes.apply('fits', volumes[1])?.spec?.claimRef?.name).toBe('c');
    volumeBinding.unreserve!(cycle, 'b');
    expect(assumptions.volumes.apply('fits', volumes[1])?.spec?.claimRef).toBeUndefined();
  });

  it('selects the node of a claim that a provisioner serves, if it has capacity there', () => {
    const claims = [claim('c', { storageClassName: 'late' })];
    const csiDriver = () => ({ spec: { storageCapacity: true } });
    const capacity = (size: string) => ({
      storageClassName: 'late',
      capacity: size,
      nodeTopology: { matchLabels: { host: 'b' } },
    });
    const stored = (size: string): Stored => ({
      claims,
      provisioner: 'disk.example.com',
      objects: { csiDriver, storageCapacities: () => [capacity(size)] },
    });
    expect(decideWith(stored('10Gi'), 'c')).toBe('b');
    expect(decideWith(stored('1Gi'), 'c')).toContain('2 node(s) did not have enough free storage');
    expect(decideWith({ claims }, 'c')).toContain("2 node(s) didn't find available persistent");
  });
});

it('VolumeZone requires a zone of the volume', () => {
  const zone = 'topology.orch.io/zone';
  const cluster = clusterOf(
    ...['x', 'y', 'z'].map((name) => node(name, { labels: { [zone]: name } })),
    node('bare'),
  );
  const zonal = volume('v', '5Gi');
  zonal.metadata!.labels = { [zone]: 'x__z' };
  const stored = { claims: [claim('c', { volumeName: 'v' }, bound)], volumes: [zonal] };
  const cycle = cycleOf(using('c'), cluster, { objects: objectsOf(stored) });
  const rejected = ['node(s) had no available volume zone'];
  expect(reasonsOf(volumeZone, cycle)).toEqual({ x: [], y: rejected, z: [], bare: [] });
});

it('VolumeRestrictions admits a second pod with a disk if both only read it', () => {
  const disk = (pdName: string, readOnly: boolean): Volume => ({
    name: 'v',
    gcePersistentDisk: { pdName, readOnly },
  });
  const cluster = clusterOf(node('n'));
  cluster.setPod(info({ name: 'x', spec: { volumes: [disk('d', true)] } }), 'n');
  const admits = (added: Volume) =>
    reasonsOf(volumeRestrictions, cycleOf(info({ spec: { volumes: [added] } }), cluster)).n;
  expect(admits(disk('d', true))).toEqual([]);
  expect(admits(disk('other', false))).toEqual([]);
  expect(admits(disk('d', false))).toEqual(['node(s) had no available disk']);
});

it('limits of disks count each disk of a node once', () => {
  const cluster = clusterOf(node('n', { allocatable: { 'attachable-volumes-gce-pd': '1' } }));
  const disk = (pdName: string) => ({
    spec: { volumes: [{ name: 'v', gcePersistentDisk: { pdName, readOnly: true } }] },
  });
  cluster.setPod(podInfo(pod({ name: 'x', ...disk('d') })), 'n');
  const limits = diskLimitPlugins.find(({ name }) => name === 'GCEPDLimits')!;
  expect(reasonsOf(limits, cycleOf(info(disk('d')), cluster)).n).toEqual([]);
  expect(reasonsOf(limits, cycleOf(info(disk('e')), cluster)).n).toEqual([
    'node(s) exceed max volume count',
  ]);
});

it('NodeVolumeLimits applies the limit that a driver has registered', () => {
  const csi = (name: string) =>
    volume(name, '5Gi', undefined, { csi: { driver: 'd.example.com', volumeHandle: name } });
  const stored: Stored = {
    claims: ['p', 'q'].map((name) => claim(name, { volumeName: name }, bound)),
    volumes: [csi('p'), csi('q')],
    objects: {
      csiNode: (name) =>
        name === 'a'
          ? {
              spec: {
                drivers: [{ name: 'd.example.com', nodeID: 'a', allocatable: { count: 1 } }],
              },
            }
          : undefined,
    },
  };
  const cluster = hosts();
  cluster.setPod(
    podInfo({ ...using('p').pod, metadata: { namespace: 'default', name: 'x' } }),
    'a',
  );
  const cycle = cycleOf(using('q'), cluster, { objects: objectsOf(stored) });
  const exceeded = ['node(s) exceed max volume count'];
  expect(reasonsOf(nodeVolumeLimits, cycle)).toEqual({ a: exceeded, b: [] });
  // Beyond the limit, a pod may still use a volume that is attached.
  cluster.setPod(
    podInfo({ ...using('q').pod, metadata: { namespace: 'default', name: 'y' } }),
    'a',
  );
  const attached = cycleOf(using('p'), cluster, { objects: objectsOf(stored) });
  expect(reasonsOf(nodeVolumeLimits, attached)).toEqual({ a: [], b: [] });
});
