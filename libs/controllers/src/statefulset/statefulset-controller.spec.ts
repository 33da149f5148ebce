import { ApiError, resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pod, statefulSet } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { makePodsReady } from '../testing/pod-status.js';
import { statefulSetController } from './statefulset-controller.js';

describe('statefulSetController', () => {
  let harness: ControllerHarness;
  const podNames = () => harness.names(resources.pods);
  const current = () => harness.server.get(resources.statefulSets, 'default/web')!;
  const images = () =>
    harness.server
      .list(resources.pods)
      .map(({ metadata, spec }) => `${metadata?.name} ${spec?.containers?.[0]?.image}`)
      .sort();
  const patch = async (spec: object) => {
    const client = harness.client.resource(resources.statefulSets, 'default');
    await client.patch('web', { spec }, { type: 'strategic' });
    await harness.settle();
  };
  const setImage = (image: string) =>
    patch({ template: { spec: { containers: [{ name: 'c', image }] } } });
  const seed = (facts: Parameters<typeof statefulSet>[0]) =>
    harness.server.seed(resources.statefulSets, statefulSet(facts));
  const readyAll = async () => {
    for (let round = 0; round < 8; round++) await makePodsReady(harness);
  };
  const claimTemplates = (storage: string) => [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    },
  ];
  const creationCount = () =>
    harness.server.requests.filter(
      ({ method, resource }) => method === 'POST' && resource.plural === 'pods',
    ).length;

  beforeEach(() => {
    harness = new ControllerHarness([statefulSetController]);
  });
  afterEach(() => harness.stop());

  it('creates the pods one after the other, each when the one before is ready', async () => {
    seed({ replicas: 3 });
    await harness.start();
    expect(podNames()).toEqual(['web-0']);
    await makePodsReady(harness);
    expect(podNames()).toEqual(['web-0', 'web-1']);
    await readyAll();
    expect(podNames()).toEqual(['web-0', 'web-1', 'web-2']);
    expect(current().status).toMatchObject({ replicas: 3, readyReplicas: 3, updatedReplicas: 3 });
    expect(creationCount()).toBe(3);
  });

  it('updates from the highest ordinal down to the partition and keeps the old revision', async () => {
    seed({ replicas: 3, partition: 1 });
    await harness.start();
    await readyAll();
    await setImage('web:2');
    await readyAll();
    expect(images()).toEqual(['web-0 web:1', 'web-1 web:2', 'web-2 web:2']);
    const { currentRevision, updateRevision } = current().status!;
    expect(currentRevision).not.toBe(updateRevision);
    await harness.client.resource(resources.pods, 'default').delete('web-0');
    await harness.settle();
    expect(images()[0]).toBe('web-0 web:1');
    await readyAll();
    await patch({ updateStrategy: { rollingUpdate: { partition: 0 } } });
    await readyAll();
    expect(images()).toEqual(['web-0 web:2', 'web-1 web:2', 'web-2 web:2']);
    expect(current().status?.currentRevision).toBe(updateRevision);
  });

  it('reuses the revision of an earlier template under the next number and prunes others', async () => {
    seed({ replicas: 1, spec: { revisionHistoryLimit: 1 } });
    await harness.start();
    await readyAll();
    for (const image of ['web:2', 'web:3', 'web:1']) {
      await setImage(image);
      await readyAll();
    }
    const numbers = harness.server
      .list(resources.controllerRevisions)
      .map(({ revision }) => revision);
    expect(numbers.sort()).toEqual([3, 4]);
    expect(images()).toEqual(['web-0 web:1']);
  });

  it('creates each claim once and reports one of another size', async () => {
    seed({
      replicas: 2,
      policy: 'Parallel',
      spec: { volumeClaimTemplates: claimTemplates('2Gi') },
    });
    harness.server.seed(resources.persistentVolumeClaims, {
      metadata: { name: 'data-web-1', namespace: 'default' },
      spec: { resources: { requests: { storage: '1Gi' } } },
    });
    await harness.start();
    expect(harness.names(resources.persistentVolumeClaims)).toEqual(['data-web-0', 'data-web-1']);
    expect(podNames()).toEqual(['web-0', 'web-1']);
    expect(harness.events()).toEqual(
      expect.arrayContaining([
        'SuccessfulCreate: create Claim data-web-0 Pod web-0 in StatefulSet web success',
        'SuccessfulCreate: create Pod web-0 in StatefulSet web successful',
        'ClaimDiffers: Claim data-web-1 requests 1Gi storage, its template 2Gi: the claim is used as it is',
      ]),
    );
    await harness.advance(60_000);
    const writeCount = () =>
      harness.server.requests.filter(({ method }) => method !== 'GET').length;
    const before = writeCount();
    await harness.advance(300_000);
    expect(writeCount()).toBe(before);
  });

  it('writes a bounded number of requests while its pods are rejected', async () => {
    seed({ replicas: 5, policy: 'Parallel' });
    for (let count = 0; count < 200; count++) {
      harness.server.interceptNext('POST', resources.pods, () => {
        throw new ApiError(403, 'Forbidden', 'exceeded quota: small');
      });
    }
    await harness.start();
    await harness.advance(60_000);
    // Five a round, with a pause that doubles from 5 ms.
    expect(creationCount()).toBeLessThan(5 * 17);
    expect(harness.events()).toContain(
      'FailedCreate: create Pod web-0 in StatefulSet web failed error: exceeded quota: small',
    );
  });

  it('leaves the pod of another owner alone and reports the taken name', async () => {
    const other = pod({ name: 'web-0', labels: { app: 'web' } });
    other.metadata!.ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'other', controller: true },
    ];
    harness.server.seed(resources.pods, other);
    seed({ replicas: 1 });
    await harness.start();
    await harness.advance(30_000);
    expect(podNames()).toEqual(['web-0']);
    const owners = harness.server.get(resources.pods, 'default/web-0')?.metadata?.ownerReferences;
    expect(owners).toHaveLength(1);
    expect(creationCount()).toBeLessThan(20);
  });

  it('creates no pod twice when it restarts in the middle of a rollout', async () => {
    seed({ replicas: 3, policy: 'Parallel' });
    await harness.start();
    await readyAll();
    await setImage('web:2');
    await harness.stop();
    await harness.start();
    await readyAll();
    expect(images()).toEqual(['web-0 web:2', 'web-1 web:2', 'web-2 web:2']);
    expect(creationCount()).toBe(6);
  });
});
