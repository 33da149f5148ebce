import { ApiError, resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { daemonSet, node } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { makePodsReady } from '../testing/pod-status.js';
import { targetNodeOf } from './daemon-pod.js';
import { daemonSetController } from './daemonset-controller.js';

describe('daemonSetController', () => {
  let harness: ControllerHarness;
  const placed = () =>
    harness.server
      .list(resources.pods)
      .map((pod) => `${targetNodeOf(pod)} ${pod.spec?.containers?.[0]?.image}`)
      .sort();
  const status = () => harness.server.get(resources.daemonSets, 'default/web')?.status;
  const setImage = async (image: string) => {
    harness.server.change(resources.daemonSets, 'default/web', (set) => ({
      ...daemonSet({ image, generation: (set.metadata?.generation ?? 0) + 1 }),
      metadata: {
        ...set.metadata,
        generation: (set.metadata?.generation ?? 0) + 1,
        annotations: { 'deprecated.daemonset.template.generation': '2' },
      },
      status: set.status!,
    }));
    await harness.settle();
  };
  const changeNode = async (name: string, changed: ReturnType<typeof node>) => {
    harness.server.change(resources.nodes, name, (existing) => ({
      ...existing,
      metadata: { ...existing.metadata, labels: changed.metadata?.labels ?? {} },
      spec: changed.spec!,
    }));
    await harness.settle();
  };

  beforeEach(async () => {
    harness = new ControllerHarness([daemonSetController]);
    for (const name of ['a', 'b', 'c']) harness.server.seed(resources.nodes, node(name));
    harness.server.seed(resources.daemonSets, daemonSet({}));
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('creates a pod for each node, also for one that joins', async () => {
    expect(placed()).toEqual(['a web:1', 'b web:1', 'c web:1']);
    await harness.client.resource(resources.nodes).create(node('d'));
    await harness.settle();
    expect(placed()).toHaveLength(4);
    await makePodsReady(harness);
    expect(status()).toMatchObject({ desiredNumberScheduled: 4, numberReady: 4 });
  });

  it('keeps pods under a NoSchedule taint and deletes them under a NoExecute taint', async () => {
    await changeNode('a', node('a', { taints: [{ key: 'hot', effect: 'NoSchedule' }] }));
    expect(placed()).toHaveLength(3);
    expect(status()).toMatchObject({ desiredNumberScheduled: 2, numberMisscheduled: 1 });
    await changeNode('a', node('a', { taints: [{ key: 'hot', effect: 'NoExecute' }] }));
    expect(placed()).toEqual(['b web:1', 'c web:1']);
  });

  it('updates one node after the other and counts revisions', async () => {
    await makePodsReady(harness);
    await setImage('web:2');
    expect(placed().filter((text) => text.endsWith('web:2'))).toHaveLength(1);
    for (let round = 0; round < 6; round++) await makePodsReady(harness);
    expect(placed()).toEqual(['a web:2', 'b web:2', 'c web:2']);
    const revisions = harness.server.list(resources.controllerRevisions);
    expect(revisions.map(({ revision }) => revision).sort()).toEqual([1, 2]);
    expect(status()).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3 });
  });

  it('replaces a failed pod, later each time', async () => {
    const failAll = async () => {
      for (const { metadata, spec } of harness.server.list(resources.pods)) {
        if (!spec || metadata?.deletionTimestamp) continue;
        harness.server.change(resources.pods, `default/${metadata?.name}`, (pod) => ({
          ...pod,
          status: { phase: 'Failed' },
        }));
      }
      await harness.settle();
    };
    const deletions = () =>
      harness.server.requests.filter(
        ({ method, resource }) => method === 'DELETE' && resource.plural === 'pods',
      ).length;
    for (let second = 0; second < 60; second++) {
      await failAll();
      await harness.advance(1_000);
    }
    // Three nodes; replaced after 0, 1, 2, 4, 8, 16 and 32 s.
    expect(deletions()).toBeLessThanOrEqual(3 * 7);
    expect(deletions()).toBeGreaterThanOrEqual(3 * 5);
    expect(harness.events()).toContainEqual(
      expect.stringMatching(
        /^FailedDaemonPod: Found failed daemon pod default\/web-\w+ on node a, will try to kill it$/,
      ),
    );
  });

  it('writes a bounded number of requests while its pods are rejected', async () => {
    await harness.stop();
    harness.server.requests.length = 0;
    for (let count = 0; count < 100; count++) {
      harness.server.interceptNext('POST', resources.pods, () => {
        throw new ApiError(403, 'Forbidden', 'exceeded quota: small');
      });
    }
    await harness.start();
    for (const name of ['d', 'e', 'f']) {
      await harness.client.resource(resources.nodes).create(node(name));
    }
    await harness.advance(60_000);
    const creations = harness.server.requests.filter(
      ({ method, resource }) => method === 'POST' && resource.plural === 'pods',
    );
    expect(creations.length).toBeGreaterThan(0);
    expect(creations.length).toBeLessThan(30);
    expect(harness.events()).toContain('FailedCreate: Error creating: exceeded quota: small');
  });
});
