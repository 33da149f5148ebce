import type { CSIDriver, CSINode, StorageClass, VolumeAttachment } from '@orch/types/storage/v1';
import type { CSIStorageCapacity } from '@orch/types/storage/v1beta1';
import { describe, expect, it } from 'vitest';
import { cells, create, requestContext, update } from '../testing/write.js';
import { csiDriver } from './csi-driver.js';
import { csiNode } from './csi-node.js';
import { csiStorageCapacity } from './csi-storage-capacity.js';
import { storageClass } from './storage-class.js';
import { volumeAttachment } from './volume-attachment.js';

describe('storage classes', () => {
  const topology = (...terms: object[][]) => ({
    allowedTopologies: terms.map((matchLabelExpressions) => ({ matchLabelExpressions })),
  });
  it.each<[object, string[]]>([
    [{ provisioner: 'Example.com/Fast' }, []],
    [{}, ['provisioner: Required value']],
    [
      { provisioner: 'a', parameters: { '': 'x' }, reclaimPolicy: 'Recycle' },
      [
        'parameters: Invalid value: "": field can not be empty.',
        'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
      ],
    ],
    [
      { provisioner: 'a', parameters: { a: 'x'.repeat(262_144) }, volumeBindingMode: 'Later' },
      [
        'parameters: Too long: must have at most 262144 bytes',
        'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
      ],
    ],
    [
      {
        provisioner: 'a',
        parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`k${i}`, ''])),
      },
      ['parameters: Too long: must have at most 512 bytes'],
    ],
    [
      {
        provisioner: 'a',
        ...topology(
          [{ key: 'a', values: ['x', 'x'] }],
          [{ key: 'a', values: ['x'] }],
          [{ key: 'b' }, { key: 'b', values: ['y'] }],
        ),
      },
      [
        'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "x"',
        'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
        'allowedTopologies[2].matchLabelExpressions[0].values: Required value',
        'allowedTopologies[2].matchLabelExpressions[1].key: Duplicate value: "b"',
      ],
    ],
  ])('%#', (body, messages) => {
    expect(create(storageClass, body).errors).toEqual(messages);
  });
  it('reject changes except of volume expansion', () => {
    const { object } = create<StorageClass>(storageClass, { provisioner: 'a' });
    expect(object).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
    const changed = (change: object) =>
      update<StorageClass>(storageClass, object, (draft) => Object.assign(draft, change)).errors;
    expect(changed({ allowVolumeExpansion: true })).toEqual([]);
    expect(
      changed({
        parameters: { a: 'b' },
        provisioner: 'b',
        reclaimPolicy: 'Retain',
        volumeBindingMode: 'WaitForFirstConsumer',
      }),
    ).toEqual([
      'parameters: Forbidden: updates to parameters are forbidden.',
      'provisioner: Forbidden: updates to provisioner are forbidden.',
      'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ]);
  });
  it('show the default class', () => {
    const annotations = { 'storageclass.orch.io/is-default-class': 'true' };
    const { object } = create(storageClass, {
      metadata: { name: 'fast', annotations },
      provisioner: 'a',
    });
    expect(cells(storageClass, object)).toMatchObject({
      Name: 'fast (default)',
      AllowVolumeExpansion: false,
    });
  });
});

describe('drivers', () => {
  const { object: fresh } = create<CSIDriver>(csiDriver, {});
  const changed = (spec: object) =>
    update<CSIDriver>(csiDriver, fresh, (draft) => Object.assign(draft.spec, spec));
  it('get defaults', () => {
    expect(fresh.spec).toEqual({
      attachRequired: true,
      podInfoOnMount: false,
      volumeLifecycleModes: ['Persistent'],
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
    });
  });
  it.each<[object, string[]]>([
    [
      { fsGroupPolicy: 'Odd', volumeLifecycleModes: ['Odd'] },
      [
        'spec.fsGroupPolicy: Unsupported value: "Odd": supported values: "File", "None", "ReadWriteOnceWithFSType"',
        'spec.volumeLifecycleModes: Unsupported value: "Odd": supported values: "Persistent", "Ephemeral"',
      ],
    ],
    [
      {
        tokenRequests: [
          { audience: 'a', expirationSeconds: 599 },
          { audience: 'a' },
          { audience: 'b', expirationSeconds: 4_294_967_297 },
        ],
      },
      [
        'spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
        'spec.tokenRequests[1].audience: Duplicate value: "a"',
        'spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      ],
    ],
  ])('reject %j', (spec, messages) => {
    expect(create(csiDriver, { spec }).errors).toEqual(messages);
  });
  it('reject a change of the spec', () => {
    expect(changed({ attachRequired: false, volumeLifecycleModes: ['Ephemeral'] }).errors).toEqual([
      'spec.attachedRequired: Invalid value: false: field is immutable',
      'spec.volumeLifecycleModes: Invalid value: []string{"Ephemeral"}: field is immutable',
    ]);
  });
  it('count changes of the token settings', () => {
    const { object, errors } = changed({ tokenRequests: [{ audience: 'a' }, { audience: 'b' }] });
    expect(errors).toEqual([]);
    expect(object.metadata?.generation).toBe(1);
    expect(cells(csiDriver, object)).toMatchObject({ TokenRequests: 'a,b', Modes: 'Persistent' });
    expect(cells(csiDriver, fresh)).toMatchObject({
      TokenRequests: '<unset>',
      AttachRequired: true,
    });
  });
});

describe('node drivers', () => {
  const of = (...drivers: object[]) => create<CSINode>(csiNode, { spec: { drivers } });
  it.each<[object[], string[]]>([
    [[{ name: 'd' }], ['spec.drivers[0].nodeID: Required value']],
    [
      [{ name: 'd', nodeID: 'n'.repeat(129), allocatable: { count: -1 } }],
      [
        expect.stringMatching(
          /^spec\.drivers\[0\]\.nodeID: .*must be 128 characters or less$/,
        ) as string,
        'spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      [
        { name: 'd', nodeID: 'n' },
        { name: 'd', nodeID: 'm', topologyKeys: ['k', 'k'] },
      ],
      ['spec.drivers[1].name: Duplicate value: "d"', 'spec.drivers[1]: Duplicate value: "k"'],
    ],
  ])('reject %#', (drivers, messages) => {
    expect(of(...drivers).errors).toEqual(messages);
  });
  it('may be added and removed, but not changed', () => {
    const { object } = of({ name: 'd', nodeID: 'n' });
    const changed = (drivers: CSINode['spec']['drivers']) =>
      update<CSINode>(csiNode, object, (draft) => Object.assign(draft.spec, { drivers })).errors;
    expect(changed([{ name: 'e', nodeID: 'm' }])).toEqual([]);
    expect(changed([{ name: 'd', nodeID: 'm' }])).toEqual([
      expect.stringMatching(/^CSINodeDriver: Invalid value: .*: field is immutable$/),
    ]);
    expect(cells(csiNode, object)).toMatchObject({ Drivers: 1 });
  });
  it('may keep a long stored node id', () => {
    const [long, longer] = ['n'.repeat(150), 'n'.repeat(193)];
    const old = of({ name: 'd', nodeID: long }).object;
    const add = (nodeID: string) =>
      update<CSINode>(csiNode, old, (draft) => draft.spec.drivers!.push({ name: 'e', nodeID }))
        .errors;
    expect(add(long)).toEqual([]);
    expect(add(longer)[0]).toMatch(/must be 192 characters or less$/);
  });
});

describe('attachments', () => {
  const [v1, beta] = volumeAttachment.versions;
  const good = { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } };
  const created = (change: object, version = v1) =>
    create<VolumeAttachment>(volumeAttachment, { spec: { ...good, ...change } }, version);
  const both = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  it.each<[object, string[]]>([
    [{ source: {} }, [`spec.source: Required value: ${both}`]],
    [
      { source: { persistentVolumeName: 'p', inlineVolumeSpec: {} } },
      [`spec.source: Forbidden: ${both}`],
    ],
    [
      { nodeName: 'A', source: { persistentVolumeName: '' } },
      [
        'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
        expect.stringMatching(/^spec\.nodeName: Invalid value: "A"/) as string,
        expect.stringMatching(/^spec\.source\.persistentVolumeName: Invalid value: ""/) as string,
      ],
    ],
    [
      {
        source: {
          inlineVolumeSpec: {
            accessModes: ['ReadWriteOnce'],
            capacity: { storage: '1' },
            claimRef: {},
            nfs: { server: 's', path: '/' },
            nodeAffinity: { required: { nodeSelectorTerms: [{}] } },
            persistentVolumeReclaimPolicy: 'Delete',
            storageClassName: 'c',
            volumeMode: 'Block',
          },
        },
      },
      [
        'claimRef: Forbidden: may not be specified in the context of inline volumes',
        'capacity: Forbidden: may not be specified in the context of inline volumes',
        'csi: Required value: has to be specified in the context of inline volumes',
        'persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes',
        'nodeAffinity: Forbidden: may not be specified in the context of inline volumes',
        'storageClassName: Forbidden: may not be specified in the context of inline volumes',
        'volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes',
      ],
    ],
  ])('reject %#', (change, messages) => {
    const errors = created(change).errors;
    const inline = 'spec.source.inlineVolumeSpec.';
    expect(errors.map((error) => error.replace(inline, ''))).toEqual(messages);
  });
  it('have more rules in the newest version', () => {
    const change = { source: { persistentVolumeName: 'A' } };
    expect(created(change).errors).toHaveLength(1);
    expect(created(change, beta).errors).toEqual([]);
  });
  it('accept a status through the version without the subresource', () => {
    const body = { spec: good, status: { attached: true } };
    const status = (version = v1) =>
      create<VolumeAttachment>(volumeAttachment, body, version).object.status;
    expect(status()).toEqual({ attached: false });
    expect(status(beta)).toEqual({ attached: true });
  });
  it('keep spec and metadata on status writes', () => {
    const { object: old } = created({});
    const object = structuredClone(old);
    Object.assign(object, { spec: {}, status: { attached: true } });
    Object.assign(object.metadata!, { labels: { a: 'b' }, resourceVersion: '5' });
    volumeAttachment.status?.prepareForUpdate?.(object, old, {} as never);
    expect(object.spec).toEqual(old.spec);
    expect(object.metadata).toEqual({ ...old.metadata, resourceVersion: '5' });
    object.status!.attachError = { message: 'x'.repeat(1025) };
    expect(volumeAttachment.status?.validateUpdate?.(object, old, requestContext())).toHaveLength(
      2,
    );
  });
  it('reject a change of the spec', () => {
    const { object } = created({});
    const { errors } = update<VolumeAttachment>(volumeAttachment, object, (draft) => {
      draft.spec.nodeName = 'm';
    });
    expect(errors).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*: field is immutable$/),
    ]);
  });
});

describe('capacities', () => {
  it('require a class and a non-negative capacity', () => {
    const body = { storageClassName: 'A', capacity: '-1', maximumVolumeSize: '-2' };
    const once = [
      expect.stringMatching(/^storageClassName: Invalid value: "A"/),
      'capacity: Invalid value: "-1": must be greater than or equal to 0',
      'maximumVolumeSize: Invalid value: "-2": must be greater than or equal to 0',
    ];
    expect(create(csiStorageCapacity, body).errors).toEqual([...once, ...once]);
  });
  it('reject a change of the spec', () => {
    const { object } = create<CSIStorageCapacity>(csiStorageCapacity, { storageClassName: 'a' });
    const changed = (change: object) =>
      update<CSIStorageCapacity>(csiStorageCapacity, object, (draft) =>
        Object.assign(draft, change),
      ).errors;
    expect(changed({ capacity: '1Gi' })).toEqual([]);
    expect(changed({ storageClassName: 'b', nodeTopology: {} })).toEqual([
      'nodeTopology: Invalid value: {}: field is immutable',
      'storageClassName: Invalid value: "b": field is immutable',
    ]);
  });
});
