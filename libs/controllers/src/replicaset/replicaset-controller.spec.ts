import { ApiError, resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pod, replicaSet } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { makePodsReady } from '../testing/pod-status.js';
import { replicaSetController } from './replicaset-controller.js';

describe('replicaSetController', () => {
  let harness: ControllerHarness;
  const podNames = () => harness.names(resources.pods);
  const status = () => harness.server.get(resources.replicaSets, 'default/web')?.status;
  const scale = async (replicas: number) => {
    const client = harness.client.resource(resources.replicaSets, 'default');
    await client.patch('web', { spec: { replicas } }, { type: 'merge' });
    await harness.settle();
  };

  beforeEach(() => {
    harness = new ControllerHarness([replicaSetController]);
    harness.server.seed(resources.replicaSets, replicaSet({ name: 'web', replicas: 3 }));
  });
  afterEach(() => harness.stop());

  it('creates the missing pods, deletes surplus ones and replaces deleted ones', async () => {
    await harness.start();
    expect(podNames()).toHaveLength(3);
    expect(podNames().every((name) => name.startsWith('web-'))).toBe(true);
    await scale(1);
    expect(podNames()).toHaveLength(1);
    await harness.client.resource(resources.pods, 'default').delete(podNames()[0]!);
    await harness.settle();
    expect(podNames()).toHaveLength(1);
    await makePodsReady(harness);
    expect(status()).toMatchObject({ replicas: 1, readyReplicas: 1, availableReplicas: 1 });
  });

  it('writes its status a few times while it creates many pods', async () => {
    await harness.start();
    const writeCount = () =>
      harness.server.requests.filter(({ subresource }) => subresource === 'status').length;
    const before = writeCount();
    await scale(700);
    expect(podNames()).toHaveLength(700);
    expect(status()).toMatchObject({ replicas: 700 });
    expect(writeCount() - before).toBeLessThanOrEqual(6);
  });

  it('adopts a pod that it selects instead of creating one', async () => {
    harness.server.seed(resources.pods, pod({ name: 'orphan', labels: { app: 'web' } }));
    await harness.start();
    expect(podNames()).toHaveLength(3);
    expect(harness.server.get(resources.pods, 'default/orphan')?.metadata).toMatchObject({
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web', controller: true }],
    });
  });

  it('reports a rejected creation and retries it', async () => {
    harness.server.interceptNext('POST', resources.pods, () => {
      throw new ApiError(403, 'Forbidden', 'exceeded quota: small');
    });
    await harness.start();
    // The first batch of one failed: nothing was created until the retry.
    await harness.advance(1_000);
    expect(harness.events()).toContain('FailedCreate: Error creating: exceeded quota: small');
    expect(podNames()).toHaveLength(3);
    expect(status()?.conditions ?? []).toEqual([]);
  });

  it('creates no pod twice when it restarts', async () => {
    await harness.start();
    const before = podNames();
    await harness.stop();
    await harness.start();
    expect(podNames()).toEqual(before);
  });
});
