import type { PodTemplate, ReplicationController } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, requestContext, update } from '../../testing/write.js';
import { podTemplate } from './pod-template-kind.js';
import { replicationController } from './replication-controller.js';

const labels = { app: 'web' };
const containers = [{ name: 'main', image: 'registry.example/app:1' }];
const template = { metadata: { labels }, spec: { containers } };
const mismatch =
  'spec.template.metadata.labels: Invalid value: map[string]string{"app":"web"}: `selector` does not match template `labels`';

describe('replication controllers', () => {
  const createTemplate = (spec: object, metadata: object = { name: 'x', generation: 1 }) =>
    create<ReplicationController>(replicationController, { metadata, spec });

  it('default selector and labels to those of the template', () => {
    const { object, errors } = createTemplate({ template });
    expect(errors).toEqual([]);
    expect(object).toMatchObject({
      metadata: { labels },
      spec: { replicas: 1, selector: labels, template: { spec: { restartPolicy: 'Always' } } },
      status: { replicas: 0 },
    });
    const own = createTemplate(
      { template, selector: { app: 'web' } },
      { name: 'x', labels: { own: 'x' } },
    );
    expect(own.object.metadata?.labels).toEqual({ own: 'x' });
  });

  it.each<[object, string[]]>([
    [{}, ['spec.selector: Required value', 'spec.template: Required value']],
    [{ selector: { a: 'b' }, template }, [mismatch]],
    [{ selector: { app: 'not a label' }, template }, [mismatch]],
    [
      { minReadySeconds: -1, replicas: -2, template },
      [
        'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
        'spec.replicas: Invalid value: -2: must be greater than or equal to 0',
      ],
    ],
    [
      {
        replicas: 2,
        template: {
          ...template,
          spec: {
            containers,
            restartPolicy: 'Never',
            activeDeadlineSeconds: 1,
            volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }],
          },
        },
      },
      [
        expect.stringMatching(
          /^spec\.template\.spec\.volumes\[0\]\.gcePersistentDisk\.readOnly: Invalid value: false/,
        ) as string,
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
      ],
    ],
  ])('reject %j', (spec, messages) => {
    expect(createTemplate(spec).errors).toEqual(messages);
  });

  it('allow changes of the selector, and count changes of the spec only', () => {
    const { object } = createTemplate({ template });
    const changed = update(replicationController, object, (draft: ReplicationController) => {
      draft.spec!.template!.metadata!.labels!.more = 'x';
      draft.spec!.selector = { more: 'x' };
      delete draft.status;
    });
    expect(changed.errors).toEqual([]);
    expect(changed.object).toMatchObject({ metadata: { generation: 2 }, status: { replicas: 0 } });
    const annotated = update(replicationController, object, (draft: ReplicationController) => {
      draft.metadata!.annotations = { a: 'b' };
    });
    expect(annotated.object.metadata?.generation).toBe(1);
  });

  it('scale, show and validate their status', () => {
    const { object } = createTemplate({ template });
    replicationController.scale?.setReplicas(object, 4);
    expect(replicationController.scale?.selector(object)).toBe('app=web');
    expect(cells(replicationController, object)).toMatchObject({
      Desired: 4,
      Current: 0,
      Containers: 'main',
      Selector: 'app=web',
    });
    object.status = { replicas: 1, readyReplicas: 2, availableReplicas: -1 };
    expect(replicationController.selectableFields?.['status.replicas']?.(object)).toBe('1');
    const errors = replicationController.status?.validateUpdate?.(object, {}, requestContext());
    expect(errors?.map(({ field }) => field)).toEqual([
      'status.availableReplicas',
      'status.readyReplicas',
    ]);
  });
});

describe('pod templates', () => {
  it('are validated as pods and shown with their labels', () => {
    const { object, errors } = create<PodTemplate>(podTemplate, { template });
    expect(errors).toEqual([]);
    expect(object.template?.spec).toMatchObject({ restartPolicy: 'Always' });
    expect(cells(podTemplate, object)).toEqual({
      Name: 'x',
      Containers: 'main',
      Images: 'registry.example/app:1',
      'Pod Labels': 'app=web',
    });
    expect(podTemplate.columns.map(({ priority = 0 }) => priority)).toEqual([0, 0, 0, 0]);
    expect(create(podTemplate, {}).errors).toEqual(['template.spec.containers: Required value']);
  });
  it('are mutable', () => {
    const { object } = create<PodTemplate>(podTemplate, { template });
    const { errors } = update(podTemplate, object, (changed: PodTemplate) => {
      changed.template!.spec!.containers![0]!.image = '';
    });
    expect(errors).toEqual(['template.spec.containers[0].image: Required value']);
  });
});
