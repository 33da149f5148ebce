import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, requestContext, update } from '../../testing/write.js';
import { persistentVolume } from './persistent-volume.js';
import { persistentVolumeClaim } from './persistent-volume-claim.js';

const good = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  hostPath: { path: '/x' },
};
const { hostPath: _, ...sourceless } = good;

describe('persistent volumes', () => {
  const errorsOf = (spec: object) => create<PersistentVolume>(persistentVolume, { spec }).errors;
  it('get defaults', () => {
    const { object, errors } = create<PersistentVolume>(persistentVolume, {
      spec: good,
      status: { phase: 'Bound', message: 'm' },
    });
    expect(errors).toEqual([]);
    expect(object.status).toEqual({ phase: 'Pending' });
    expect(object.spec).toMatchObject({
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
      hostPath: { path: '/x', type: '' },
    });
  });
  it.each<[object, string[]]>([
    [
      {},
      [
        'spec.accessModes: Required value',
        'spec.capacity: Required value',
        'spec.capacity: Unsupported value: core.ResourceList{}: supported values: "storage"',
        'spec: Required value: must specify a volume type',
      ],
    ],
    [
      { ...good, accessModes: ['x'], persistentVolumeReclaimPolicy: 'Shred', volumeMode: 'Tape' },
      [
        'spec.accessModes: Unsupported value: "x": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"',
        'spec.persistentVolumeReclaimPolicy: Unsupported value: "Shred": supported values: "Delete", "Recycle", "Retain"',
        'spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"',
      ],
    ],
    [
      { ...good, capacity: { storage: '-1' } },
      [
        'spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
        'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
      ],
    ],
    [{ ...good, nfs: {} }, ['spec.nfs: Forbidden: may not specify more than 1 volume type']],
    [
      { ...good, hostPath: { path: '/a/..' }, persistentVolumeReclaimPolicy: 'Recycle' },
      [
        'spec.hostPath.path: Invalid value: "/a/..": must not contain \'..\'',
        "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
      ],
    ],
    [
      { ...sourceless, local: {} },
      [
        'spec.local.path: Required value',
        'spec.nodeAffinity: Required value: Local volume requires node affinity',
      ],
    ],
    [
      { ...sourceless, local: { path: '/d' }, nodeAffinity: {} },
      ['spec.nodeAffinity.required: Required value: must specify required node constraints'],
    ],
    [
      {
        ...sourceless,
        csi: { driver: 'd', nodePublishSecretRef: {}, controllerExpandSecretRef: { name: 'A' } },
      },
      [
        'spec.csi.volumeHandle: Required value',
        expect.stringMatching(/^spec\.csi\.name: Invalid value: "A": a lowercase/) as string,
        'spec.csi.controllerExpandSecretRef.namespace: Required value',
        'spec.csi.nodePublishSecretRef .name: Required value',
        'spec.csi.nodePublishSecretRef .namespace: Required value',
      ],
    ],
    [
      {
        ...sourceless,
        iscsi: {
          targetPortal: 'p'.repeat(63),
          iqn: 'iqn.2020-01.example:a',
          initiatorName: 'iqn.2020-01.example:b',
          secretRef: {},
        },
      },
      [
        'spec.iscsi.secretRef.name: Required value',
        expect.stringMatching(
          /^spec\.iscsi\.targetportal: .* must be under 64 characters/,
        ) as string,
      ],
    ],
    [
      { ...sourceless, cinder: { volumeID: 'v', secretRef: {} } },
      [
        'spec.cinder.secretRef.name: Required value',
        'spec.cinder.secretRef.namespace: Required value',
      ],
    ],
    [
      { ...sourceless, gcePersistentDisk: { partition: 256 } },
      [
        'spec.persistentDisk.pdName: Required value',
        'spec.persistentDisk.partition: Invalid value: 256: must be between 0 and 255, inclusive',
      ],
    ],
    [
      { ...sourceless, azureFile: { secretName: 's', shareName: 't', secretNamespace: '' } },
      ['spec.azureFile.secretNamespace: Required value'],
    ],
    [
      { ...sourceless, glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: 'A' } },
      [expect.stringMatching(/^spec\.glusterfs\.endpointsNamespace: Invalid value: "A"/) as string],
    ],
  ])('reject %j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });
  it('reject a change of the spec', () => {
    const { object } = create<PersistentVolume>(persistentVolume, { spec: good });
    const changed = (change: object) =>
      update<PersistentVolume>(persistentVolume, object, (changing) => {
        Object.assign(changing.spec!, change);
      }).errors;
    expect(changed({ capacity: { storage: '2Gi' }, mountOptions: ['ro'] })).toEqual([]);
    expect(changed({ hostPath: { path: '/y', type: '' } })).toEqual([
      expect.stringMatching(
        /^spec\.persistentvolumesource: Forbidden: .* is immutable after creation\n.*\+\u00a0\t\tPath: "\/x",\n/s,
      ),
    ]);
    expect(changed({ volumeMode: 'Block' })).toEqual([
      'volumeMode: Invalid value: "Block": field is immutable',
    ]);
  });
  it('allow the expansion secret to be set once', () => {
    const secret = { name: 's', namespace: 'n' };
    const csi = { driver: 'd', volumeHandle: 'h' };
    const { object } = create<PersistentVolume>(persistentVolume, { spec: { ...sourceless, csi } });
    const set = (old: PersistentVolume, controllerExpandSecretRef: object) =>
      update<PersistentVolume>(persistentVolume, old, (changed) => {
        Object.assign(changed.spec!.csi!, { controllerExpandSecretRef });
      });
    const first = set(object, secret);
    expect(first.errors).toEqual([]);
    expect(set(first.object, { ...secret, name: 't' }).errors).toHaveLength(1);
  });
  it('show their claim', () => {
    const spec = { ...good, claimRef: { namespace: 'n', name: 'c' }, storageClassName: 'fast' };
    const { object } = create<PersistentVolume>(persistentVolume, { spec });
    expect(cells(persistentVolume, object)).toMatchObject({
      Capacity: '1Gi',
      'Access Modes': 'RWO',
      'Reclaim Policy': 'Retain',
      Status: 'Pending',
      Claim: 'n/c',
      StorageClass: 'fast',
      VolumeMode: 'Filesystem',
    });
  });
});

describe('claims', () => {
  const spec = {
    accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
  };
  const { object: fresh } = create<PersistentVolumeClaim>(persistentVolumeClaim, { spec });
  const changed = (change: (claim: PersistentVolumeClaim) => unknown, old = fresh) =>
    update<PersistentVolumeClaim>(persistentVolumeClaim, old, change).errors;
  const fixed = (label: string) =>
    expect.stringMatching(
      `^spec: Forbidden: spec is immutable after creation except [\\s\\S]*\\n-\u00a0\\t+${label}: `,
    ) as string;

  it('start Pending, and accept claims and snapshots as sources only', () => {
    const from = (dataSource: object) =>
      create<PersistentVolumeClaim>(persistentVolumeClaim, { spec: { ...spec, dataSource } }).object
        .spec?.dataSource;
    expect(fresh.status).toEqual({ phase: 'Pending' });
    expect(from({ kind: 'PersistentVolumeClaim', name: 'c' })).toBeDefined();
    expect(
      from({ apiGroup: 'snapshot.storage.orch.io', kind: 'VolumeSnapshot', name: 's' }),
    ).toBeDefined();
    expect(from({ apiGroup: 'x', kind: 'Tape', name: 't' })).toBeUndefined();
  });
  it('report missing requirements', () => {
    expect(create(persistentVolumeClaim, {}).errors).toEqual([
      'spec.accessModes: Required value: at least 1 access mode is required',
      'spec.resources[storage]: Required value',
    ]);
  });
  it('reject changes of the spec', () => {
    const grow = (claim: PersistentVolumeClaim) => {
      claim.spec!.resources!.requests = { storage: '2Gi' };
    };
    expect(changed(grow)).toEqual([fixed('s"storage"')]);
    const bound = { ...structuredClone(fresh), status: { phase: 'Bound' } };
    expect(changed(grow, bound)).toEqual([]);
    const shrink = (claim: PersistentVolumeClaim) => {
      claim.spec!.resources!.requests = { storage: '1' };
    };
    expect(changed(shrink, bound)).toEqual([
      'spec.resources.requests.storage: Forbidden: field can not be less than previous value',
    ]);
    expect(changed((claim) => Object.assign(claim.spec!, { storageClassName: 'x' }))).toEqual([
      fixed('StorageClassName'),
    ]);
  });
  it('allow the volume name to be set once', () => {
    const bind = (name: string) => (claim: PersistentVolumeClaim) =>
      Object.assign(claim.spec!, { volumeName: name });
    const { object, errors } = update<PersistentVolumeClaim>(
      persistentVolumeClaim,
      fresh,
      bind('v'),
    );
    expect(errors).toEqual([]);
    expect(changed(bind('w'), object)).toEqual([fixed('VolumeName')]);
  });
  it('allow the class to move from annotation to field', () => {
    const key = 'volume.beta.orch.io/storage-class';
    const { object } = create<PersistentVolumeClaim>(persistentVolumeClaim, {
      metadata: { name: 'x', annotations: { [key]: 'fast' } },
      spec,
    });
    const move = (storageClassName: string) => (claim: PersistentVolumeClaim) => {
      claim.metadata!.annotations = {};
      claim.spec!.storageClassName = storageClassName;
    };
    expect(changed(move('fast'), object)).toEqual([]);
    expect(changed(move('slow'), object)).toEqual([
      `metadata.annotations.${key}: Invalid value: "": field is immutable`,
      fixed('StorageClassName'),
    ]);
    expect(cells(persistentVolumeClaim, object)).toMatchObject({ StorageClass: 'fast' });
  });
  it('show the volume once they are bound', () => {
    const status = { phase: 'Bound', capacity: { storage: '3Gi' }, accessModes: spec.accessModes };
    const row = (volumeName: string) =>
      cells(persistentVolumeClaim, { spec: { ...spec, volumeName }, status } as object);
    expect(row('')).toMatchObject({ Capacity: '', 'Access Modes': '' });
    expect(row('v')).toMatchObject({ Volume: 'v', Capacity: '3Gi', 'Access Modes': 'RWO,RWX' });
  });
  it('reject negative capacity', () => {
    const errors = persistentVolumeClaim.status?.validateUpdate?.(
      { status: { capacity: { storage: '-1' } } } as object,
      {},
      requestContext(),
    );
    expect(errors?.map(({ field }) => field)).toEqual([
      'Spec.accessModes',
      'status.capacity[storage]',
    ]);
  });
});
