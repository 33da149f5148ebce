import type { Deployment, ReplicaSet } from '@orch/types/apps/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, requestContext, update } from '../testing/write.js';
import { deployment } from './deployment.js';
import { replicaSet } from './replica-set.js';

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
};
const good = { selector: { matchLabels: { app: 'web' } }, template };
const errorsOf = (spec?: object) => create<Deployment>(deployment, spec ? { spec } : {}).errors;

describe('deployments', () => {
  it('get defaults', () => {
    const { object, errors } = create<Deployment>(deployment, {
      spec: { ...good, strategy: { rollingUpdate: { maxSurge: '30%' } } },
      status: { replicas: 5 },
    });
    expect(errors).toEqual([]);
    expect(object.status).toEqual({});
    expect(object.spec).toMatchObject({
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: '25%', maxSurge: '30%' },
      },
    });
    expect(object.spec?.template?.spec).toMatchObject({ restartPolicy: 'Always' });
    // Templates do not get the defaults of pods.
    expect(object.spec?.template?.spec).not.toHaveProperty('enableServiceLinks');
  });

  it('report missing fields', () => {
    expect(errorsOf()).toEqual([
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: map[string]string(nil): `selector` does not match template `labels`',
      'spec.template.spec.containers: Required value',
    ]);
  });

  it.each<[object, string[]]>([
    [
      { selector: { matchLabels: { app: 'other' } } },
      [
        'spec.template.metadata.labels: Invalid value: map[string]string{"app":"web"}: `selector` does not match template `labels`',
      ],
    ],
    [
      { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      [
        "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        expect.stringMatching(/^spec\.selector: .*: invalid label selector$/) as string,
      ],
    ],
    [{ replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
    [
      { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
      [
        "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
      ],
    ],
    [
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      [
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0',
      ],
    ],
    [
      { minReadySeconds: 10, progressDeadlineSeconds: 10 },
      ['spec.progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds'],
    ],
  ])('reject %j', (change, messages) => {
    expect(errorsOf({ ...good, ...change })).toEqual(messages);
  });

  it('count changes of spec and annotations', () => {
    const { object } = create<Deployment>(deployment, {
      metadata: { name: 'x', generation: 1 },
      spec: good,
    });
    const generation = (change: (object: Deployment) => unknown) =>
      update(deployment, object, change).object.metadata?.generation;
    expect(generation((changed) => Object.assign(changed.spec!, { replicas: 3 }))).toBe(2);
    expect(
      generation((changed) => Object.assign(changed.metadata!, { annotations: { a: 'b' } })),
    ).toBe(2);
    expect(generation((changed) => Object.assign(changed.metadata!, { labels: { a: 'b' } }))).toBe(
      1,
    );
  });

  it('reject a change of the selector', () => {
    const { object } = create<Deployment>(deployment, { spec: good });
    const { errors } = update(deployment, object, (changed: Deployment) => {
      changed.spec!.selector = { matchExpressions: [{ key: 'app', operator: 'Exists' }] };
    });
    expect(errors).toEqual([
      expect.stringMatching(/^spec\.selector: Invalid value: .*: field is immutable$/),
    ]);
  });

  it('scale, with their selector as text', () => {
    const { object } = create<Deployment>(deployment, { spec: good });
    deployment.scale?.setReplicas(object, 4);
    expect(deployment.scale?.replicas(object)).toBe(4);
    expect(deployment.scale?.selector(object)).toBe('app=web');
    expect(cells(deployment, object)).toMatchObject({
      Ready: '0/4',
      Containers: 'main',
      Images: 'registry.example/app:1',
      Selector: 'app=web',
    });
  });

  it('validate their status', () => {
    const errors = deployment.status?.validateUpdate?.(
      { status: { replicas: 1, updatedReplicas: 2 } } as Deployment,
      {},
      requestContext(),
    );
    expect(errors?.map(({ field }) => field)).toEqual(['status.updatedReplicas']);
  });
});

describe('replica sets', () => {
  it('start with a status of zero replicas', () => {
    const { object, errors } = create<ReplicaSet>(replicaSet, { spec: good });
    expect(errors).toEqual([]);
    expect(object.status).toEqual({ replicas: 0 });
    expect(object.spec?.replicas).toBe(1);
  });
  it('count changes of the spec only', () => {
    const { object } = create<ReplicaSet>(replicaSet, {
      metadata: { name: 'x', generation: 1 },
      spec: good,
    });
    const { object: annotated } = update(replicaSet, object, (changed: ReplicaSet) => {
      changed.metadata!.annotations = { a: 'b' };
    });
    expect(annotated.metadata?.generation).toBe(1);
  });
});
