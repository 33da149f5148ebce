import type { ControllerRevision, DaemonSet, StatefulSet } from '@orch/types/apps/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, decode, requestContext, update } from '../testing/write.js';
import { controllerRevision } from './controller-revision.js';
import { daemonSet } from './daemon-set.js';
import { statefulSet } from './stateful-set.js';

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
};
const good = { serviceName: 's', selector: { matchLabels: { app: 'web' } }, template };
const generationKey = 'deprecated.daemonset.template.generation';
const mismatch = (labels: string) =>
  `spec.template.metadata.labels: Invalid value: map[string]string${labels}: \`selector\` does not match template \`labels\``;
const like = (pattern: RegExp) => expect.stringMatching(pattern) as string;

describe('stateful sets', () => {
  const errorsOf = (spec?: object) => create(statefulSet, spec ? { spec } : {}).errors;
  const createDeployment = (spec: object) =>
    create<StatefulSet>(statefulSet, {
      metadata: { name: 'x', generation: 1 },
      spec: { ...good, ...spec },
    }).object;

  it('get defaults', () => {
    const object = createDeployment({ volumeClaimTemplates: [{ metadata: { name: 'data' } }] });
    expect(object.status).toEqual({ replicas: 0 });
    expect(object.spec).toMatchObject({
      replicas: 1,
      revisionHistoryLimit: 10,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          spec: { volumeMode: 'Filesystem' },
          status: { phase: 'Pending' },
        },
      ],
      template: { spec: { restartPolicy: 'Always' } },
    });
  });

  it.each<[object | undefined, object]>([
    [{ type: 'RollingUpdate' }, { type: 'RollingUpdate' }],
    [
      { type: 'RollingUpdate', rollingUpdate: {} },
      { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    ],
    [
      { rollingUpdate: { partition: 3 } },
      { type: 'RollingUpdate', rollingUpdate: { partition: 3 } },
    ],
    [{ type: 'OnDelete' }, { type: 'OnDelete' }],
  ])('default the strategy %j', (updateStrategy, expected) => {
    expect(createDeployment({ updateStrategy }).spec?.updateStrategy).toEqual(expected);
  });

  it('report missing fields', () => {
    expect(errorsOf()).toEqual(['spec.selector: Required value', mismatch('(nil)')]);
  });

  it.each<[object, string[]]>([
    [{ selector: { matchLabels: { a: 'b' } } }, [mismatch('{"app":"web"}')]],
    [
      { selector: {} },
      [like(/^spec\.selector: Invalid value: .*: empty selector is invalid for statefulset$/)],
    ],
    [
      { selector: { matchExpressions: [{ key: 'a', operator: 'x' }] } },
      [like(/^spec\.selector\.matchExpressions\[0\]\.operator/), like(/^spec\.selector: Invalid/)],
    ],
    [
      { podManagementPolicy: 'x' },
      [`spec.podManagementPolicy: Invalid value: "x": must be 'OrderedReady' or 'Parallel'`],
    ],
    [
      { updateStrategy: { type: 'x' } },
      [like(/^spec\.updateStrategy: Invalid value: .*: must be 'RollingUpdate' or 'OnDelete'$/)],
    ],
    [
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      [
        "spec.updateStrategy.rollingUpdate: Invalid value: true: only allowed for updateStrategy 'RollingUpdate'",
      ],
    ],
    [
      { updateStrategy: { rollingUpdate: { partition: -1 } } },
      [
        'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [{ replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
    [
      { template: { ...template, metadata: { labels: { app: 'web', b: '?' } } } },
      [like(/^spec\.template\.labels: Invalid value/)],
    ],
    [
      { template: { ...template, spec: { restartPolicy: 'Never', activeDeadlineSeconds: 1 } } },
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
      ],
    ],
  ])('reject %j', (change, messages) => {
    expect(errorsOf({ ...good, ...change })).toEqual(messages);
  });

  it('allow changes of three fields and count them', () => {
    const { object, errors } = update(statefulSet, createDeployment({}), (changed: StatefulSet) => {
      changed.spec!.replicas = 3;
      changed.spec!.updateStrategy = { type: 'OnDelete' };
      changed.spec!.template.metadata!.labels!.more = 'x';
    });
    expect(errors).toEqual([]);
    expect(object.metadata?.generation).toBe(2);
    const refused = update(statefulSet, object, (changed: StatefulSet) => {
      changed.spec!.serviceName = 'other';
    });
    expect(refused.errors).toEqual([
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden",
    ]);
  });

  it('validate their status', () => {
    const status = { replicas: 1, readyReplicas: 2, currentReplicas: -1, collisionCount: 1 };
    const errors = statefulSet.status?.validateUpdate?.(
      { status } as StatefulSet,
      { status: { replicas: 0, collisionCount: 2 } } as StatefulSet,
      requestContext(),
    );
    expect(errors?.map(({ field }) => field)).toEqual([
      'status.currentReplicas',
      'status.readyReplicas',
      'status.collisionCount',
    ]);
  });

  it('scale, and show the ready replicas', () => {
    const object = createDeployment({ replicas: 2 });
    statefulSet.scale?.setReplicas(object, 4);
    expect(statefulSet.scale?.selector(object)).toBe('app=web');
    expect(cells(statefulSet, object)).toMatchObject({ Ready: '0/4', Containers: 'main' });
  });
});

describe('daemon sets', () => {
  const errorsOf = (spec?: object) => create(daemonSet, spec ? { spec } : {}).errors;
  const createDaemonSet = (spec: object = {}) =>
    create<DaemonSet>(daemonSet, {
      metadata: { name: 'x', generation: 1 },
      spec: { ...good, ...spec },
    }).object;

  it.each<[object | undefined, object]>([
    [undefined, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } }],
    [
      { rollingUpdate: { maxUnavailable: '20%', maxSurge: 2 } },
      { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '20%', maxSurge: 0 } },
    ],
    [{ type: 'OnDelete' }, { type: 'OnDelete' }],
  ])('default the strategy %j', (updateStrategy, expected) => {
    expect(createDaemonSet({ updateStrategy }).spec?.updateStrategy).toEqual(expected);
  });

  it('count the generations of their template', () => {
    const [version] = daemonSet.versions;
    const convertedMetadata = (object: DaemonSet) => version!.fromStored!(object).metadata;
    const counted = (object: DaemonSet, annotations?: object) =>
      decode<DaemonSet>(
        daemonSet,
        structuredClone({ ...object, metadata: { ...object.metadata, annotations } }),
      );
    const first = createDaemonSet();
    expect(convertedMetadata(first)?.annotations).toEqual({ [generationKey]: '1' });
    expect(first.metadata).not.toHaveProperty('annotations');
    const { object } = update(daemonSet, first, (changed: DaemonSet) => {
      Object.assign(changed, counted(first, { [generationKey]: '7', a: 'b' }));
      changed.spec!.template.metadata!.labels!.more = 'x';
    });
    expect(convertedMetadata(object)).toMatchObject({
      generation: 2,
      annotations: { [generationKey]: '2', a: 'b' },
    });
    const later = update(daemonSet, object, (changed: DaemonSet) => {
      Object.assign(changed, counted(object));
      changed.spec!.minReadySeconds = 3;
    }).object;
    expect(convertedMetadata(later)).toMatchObject({
      generation: 3,
      annotations: { [generationKey]: '2' },
    });
    const written = counted(later, { [generationKey]: '9' });
    daemonSet.status?.prepareForUpdate?.(written, later, requestContext());
    expect(convertedMetadata(written)?.annotations).toEqual({ [generationKey]: '2' });
    expect(() => counted(later, { [generationKey]: 'x' })).toThrow(/parsing "x": invalid syntax/);
  });

  it.each<[object | undefined, string[]]>([
    [undefined, [mismatch('(nil)'), 'spec.template.spec.containers: Required value']],
    [{ selector: { matchLabels: { a: 'b' } } }, [mismatch('{"app":"web"}')]],
    [
      { selector: {} },
      [like(/^spec\.selector: Invalid value: .*: empty selector is invalid for daemonset$/)],
    ],
    [
      { updateStrategy: { type: 'x' } },
      [
        like(
          /^spec\.updateStrategy: Unsupported value: .*: supported values: "RollingUpdate", "OnDelete"$/,
        ),
      ],
    ],
    [
      { updateStrategy: { rollingUpdate: { maxUnavailable: '0%' } } },
      ['spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0%": cannot be 0'],
    ],
    [
      { updateStrategy: { rollingUpdate: { maxUnavailable: '200%' } } },
      [
        'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "200%": must not be greater than 100%',
      ],
    ],
    [
      { minReadySeconds: -1, revisionHistoryLimit: -1 },
      [
        'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
        'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      {
        template: {
          ...template,
          spec: {
            ...template.spec,
            restartPolicy: 'Never',
            activeDeadlineSeconds: 1,
            volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }],
          },
        },
      },
      [
        like(
          /^spec\.template\.spec\.volumes\[0\]\.gcePersistentDisk\.readOnly: Invalid value: false/,
        ),
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported',
      ],
    ],
  ])('reject %j', (change, messages) => {
    expect(errorsOf(change && { ...good, ...change })).toEqual(messages);
  });

  it('reject a change of the selector', () => {
    const { errors } = update(daemonSet, createDaemonSet(), (changed: DaemonSet) => {
      changed.spec!.selector = { matchExpressions: [{ key: 'app', operator: 'Exists' }] };
    });
    expect(errors).toEqual([like(/^spec\.selector: Invalid value: .*: field is immutable$/)]);
  });

  it('validate and show their status', () => {
    const object = createDaemonSet({
      template: { ...template, spec: { ...template.spec, nodeSelector: { a: 'b' } } },
    });
    object.status = {
      currentNumberScheduled: 1,
      numberMisscheduled: -1,
      desiredNumberScheduled: 2,
      numberReady: 0,
    };
    const errors = daemonSet.status?.validateUpdate?.(object, {}, requestContext());
    expect(errors?.map(({ field }) => field)).toEqual(['status.numberMisscheduled']);
    expect(cells(daemonSet, object)).toMatchObject({
      Desired: 2,
      Current: 1,
      'Up-to-date': 0,
      'Node Selector': 'a=b',
      Selector: 'app=web',
    });
  });
});

describe('controller revisions', () => {
  it('have immutable data', () => {
    expect(create(controllerRevision, { revision: -1 }).errors).toEqual([
      'data: Required value: data is mandatory',
      'revision: Invalid value: -1: must be greater than or equal to 0',
    ]);
    const { object, errors } = create<ControllerRevision>(controllerRevision, {
      revision: 1,
      data: { a: 1 },
    });
    expect(errors).toEqual([]);
    const changed = update(controllerRevision, object, (draft: ControllerRevision) => {
      Object.assign(draft, { revision: 2, data: { a: 2 } });
    });
    expect(changed.errors).toEqual([like(/^data: Invalid value: .*: field is immutable$/)]);
  });

  it('show their controller', () => {
    const owner = { kind: 'StatefulSet', name: 'web', uid: 'u', controller: true };
    const cellsOf = (apiVersion: string) =>
      cells(controllerRevision, {
        metadata: { ownerReferences: [{ apiVersion, ...owner }] },
      }).Controller;
    expect(cellsOf('apps/v1')).toBe('statefulset.apps/web');
    expect(cellsOf('v1')).toBe('statefulset/web');
    expect(cells(controllerRevision, {})).toMatchObject({ Controller: '<none>', Revision: 0 });
  });
});
