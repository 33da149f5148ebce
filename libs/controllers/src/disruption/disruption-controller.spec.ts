import { resources } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { at, pod, replicaSet } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { disruptionController } from './disruption-controller.js';

type Spec = NonNullable<PodDisruptionBudget['spec']>;

describe('disruptionController', () => {
  let harness: ControllerHarness;
  const selector = { matchLabels: { app: 'web' } };
  const status = (name = 'web') =>
    harness.server.get(resources.podDisruptionBudgets, `default/${name}`)?.status;
  const writeCount = () => harness.server.requests.filter(({ method }) => method === 'PUT').length;
  const budget = (spec: Spec, name = 'web') =>
    harness.server.seed(resources.podDisruptionBudgets, {
      metadata: { name, namespace: 'default', generation: 1 },
      spec: { selector, ...spec },
    });

  /** `owner`: the controller of the pod. */
  function seedPod(name: string, owner?: { kind: string; name: string; uid: string }): Pod {
    const object = pod({ name, labels: { app: 'web' } });
    if (owner) {
      const apiVersion = owner.kind === 'Job' ? 'batch/v1' : 'apps/v1';
      object.metadata!.ownerReferences = [{ apiVersion, ...owner, controller: true }];
    }
    return harness.server.seed(resources.pods, object);
  }

  function seedReplicaSet(replicas: number) {
    const { metadata } = harness.server.seed(resources.replicaSets, replicaSet({ replicas }));
    return { kind: 'ReplicaSet', name: metadata?.name ?? '', uid: metadata?.uid ?? '' };
  }

  beforeEach(() => {
    harness = new ControllerHarness([disruptionController]);
  });
  afterEach(() => harness.stop());

  it('counts pods for a plain minimum, and follows them', async () => {
    for (const name of ['a', 'b', 'c']) seedPod(name);
    budget({ minAvailable: 2 });
    await harness.start();
    const counts = { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 };
    expect(status()).toMatchObject({ ...counts, observedGeneration: 1 });
    await harness.client.resource(resources.pods, 'default').delete('a');
    await harness.settle();
    expect(status()).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [{ status: 'False', reason: 'InsufficientPods' }],
    });
  });

  it('counts what controllers want for a share, and follows their scale', async () => {
    const owner = seedReplicaSet(4);
    for (const name of ['a', 'b', 'c']) seedPod(name, owner);
    budget({ minAvailable: '50%' });
    await harness.start();
    expect(status()).toMatchObject({ disruptionsAllowed: 1, desiredHealthy: 2, expectedPods: 4 });
    harness.server.change(resources.replicaSets, `default/${owner.name}`, (object) => ({
      ...object,
      spec: { ...object.spec!, replicas: 10 },
    }));
    await harness.settle();
    expect(status()).toMatchObject({ disruptionsAllowed: 0, desiredHealthy: 5, expectedPods: 10 });
  });

  it.each([
    ['no controller', undefined, 'found no controller ref for pod "a"'],
    [
      'one that does not scale',
      { kind: 'Job', name: 'j', uid: 'u' },
      'Job "j" does not implement the scale subresource',
    ],
    [
      'one of no known kind',
      { kind: 'Thing', name: 'j', uid: 'u' },
      'found no controllers for pod "a"',
    ],
  ])('allows nothing for a share of pods with %s, without a hot loop', async (_, owner, reason) => {
    seedPod('a', owner);
    budget({ maxUnavailable: 1 });
    await harness.start();
    await harness.advance(180_000);
    expect(status()).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [{ status: 'False', reason: 'SyncFailed', message: reason }],
    });
    expect(writeCount()).toBe(1);
    expect(harness.events()).toEqual([
      `CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: ${reason}`,
    ]);
  });

  it('loses no eviction that is written at the same time', async () => {
    for (const name of ['a', 'b']) seedPod(name);
    budget({ minAvailable: 1 });
    await harness.start();
    harness.server.interceptNext('PUT', resources.podDisruptionBudgets, () => {
      harness.server.change(resources.podDisruptionBudgets, 'default/web', (object) => ({
        ...object,
        status: { ...object.status!, disruptionsAllowed: 0, disruptedPods: { a: at(1) } },
      }));
    });
    seedPod('c');
    await harness.settle();
    expect(status()).toMatchObject({
      currentHealthy: 2,
      disruptionsAllowed: 1,
      disruptedPods: { a: at(1) },
    });
  });

  it('gives up an eviction after two minutes', async () => {
    for (const name of ['a', 'b']) seedPod(name);
    budget({ minAvailable: 1 });
    await harness.start();
    harness.server.change(resources.podDisruptionBudgets, 'default/web', (object) => ({
      ...object,
      status: { ...object.status!, disruptionsAllowed: 0, disruptedPods: { a: at(1) } },
    }));
    await harness.settle();
    expect(status()).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 1 });
    await harness.advance(125_000);
    expect(status()).toMatchObject({ disruptionsAllowed: 1, currentHealthy: 2 });
    expect(harness.events()).toContain(
      "NotDeleted: Pod was expected by PDB default/web to be deleted but it wasn't",
    );
  });

  it('keeps two budgets on one pod and reports it once', async () => {
    seedPod('a');
    budget({ minAvailable: 1 }, 'one');
    harness.server.seed(resources.podDisruptionBudgets, {
      metadata: { name: 'all', namespace: 'default', generation: 1 },
      spec: { selector: {}, minAvailable: 0 },
    });
    await harness.start();
    for (const phase of ['Pending', 'Running', 'Pending', 'Running']) {
      harness.server.change(resources.pods, 'default/a', (object) => ({
        ...object,
        status: { ...object.status, phase },
      }));
      await harness.settle();
    }
    expect(status('one')).toMatchObject({ expectedPods: 1, disruptionsAllowed: 0 });
    expect(status('all')).toMatchObject({ expectedPods: 1, disruptionsAllowed: 1 });
    expect(harness.events().filter((event) => event.startsWith('Multiple'))).toHaveLength(1);
    expect(writeCount()).toBe(2);
  });
});
