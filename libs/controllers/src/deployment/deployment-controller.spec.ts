import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deployment } from '../../test/objects.js';
import { replicaSetController } from '../replicaset/replicaset-controller.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { makePodsReady } from '../testing/pod-status.js';
import { deploymentController } from './deployment-controller.js';

describe('deploymentController', () => {
  let harness: ControllerHarness;
  const current = () => harness.server.get(resources.deployments, 'default/web')!;
  const sizes = () =>
    harness.server
      .list(resources.replicaSets)
      .map(({ spec }) => [spec?.template?.spec?.containers?.[0]?.image, spec?.replicas]);
  const setImage = async (image: string) => {
    const patch = { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } };
    const client = harness.client.resource(resources.deployments, 'default');
    await client.patch('web', patch, { type: 'strategic' });
    await harness.settle();
  };
  const completeRollout = async () => {
    for (let round = 0; round < 12; round++) await makePodsReady(harness);
  };

  beforeEach(async () => {
    harness = new ControllerHarness([deploymentController, replicaSetController]);
    harness.server.seed(resources.deployments, deployment({ replicas: 3, image: 'web:1' }));
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('creates a replica set and reports its pods when they are ready', async () => {
    expect(sizes()).toEqual([['web:1', 3]]);
    expect(harness.names(resources.pods)).toHaveLength(3);
    await makePodsReady(harness);
    expect(current().status).toMatchObject({ readyReplicas: 3, availableReplicas: 3 });
    expect(harness.events()).toContainEqual(
      expect.stringMatching(/^ScalingReplicaSet: Scaled up replica set web-\w+ to 3$/),
    );
  });

  it('replaces the pods step by step when the image changes', async () => {
    await makePodsReady(harness);
    await setImage('web:2');
    // 25% of three: one more pod, and none fewer until it is ready.
    expect(sizes()).toEqual([
      ['web:1', 3],
      ['web:2', 1],
    ]);
    await completeRollout();
    expect(sizes()).toEqual([
      ['web:1', 0],
      ['web:2', 3],
    ]);
    expect(current().status).toMatchObject({ updatedReplicas: 3, availableReplicas: 3 });
  });

  it('completes a rollout after a restart in the middle of it', async () => {
    await makePodsReady(harness);
    await setImage('web:2');
    await harness.stop();
    await harness.start();
    await completeRollout();
    expect(sizes()).toEqual([
      ['web:1', 0],
      ['web:2', 3],
    ]);
    expect(harness.names(resources.pods)).toHaveLength(3);
  });

  it('writes the status again after a conflict with another writer', async () => {
    harness.server.interceptNext('PUT', resources.deployments, () => {
      harness.server.change(resources.deployments, 'default/web', (object) => ({
        ...object,
        metadata: { ...object.metadata, annotations: { note: 'by a user' } },
      }));
    });
    await makePodsReady(harness);
    await harness.advance(2_000);
    expect(current().metadata?.annotations).toMatchObject({ note: 'by a user' });
    expect(current().status).toMatchObject({ availableReplicas: 3 });
  });
});
