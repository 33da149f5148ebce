import { ApiError, resources, TransportError } from '@orch/client';
import type { Job } from '@orch/types/batch/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { at, pod } from '../../test/objects.js';
import { ControllerHarness, type HarnessOptions } from '../testing/controller-harness.js';
import { jobController } from './job-controller.js';

describe('jobController', () => {
  let harness: ControllerHarness;
  const labels = { 'job-name': 'pi' };
  const pods = () => harness.server.list(resources.pods);
  const activePods = () =>
    pods().filter(({ status }) => (status?.phase ?? 'Pending') === 'Pending');
  const status = () => harness.server.get(resources.jobs, 'default/pi')?.status;
  const creationCount = () =>
    harness.server.requests.filter(
      ({ method, resource }) => method === 'POST' && resource === resources.pods,
    ).length;

  async function start(spec: Partial<NonNullable<Job['spec']>>, options: HarnessOptions = {}) {
    harness = new ControllerHarness([jobController], options);
    const podSpec = { containers: [{ name: 'main' }], restartPolicy: 'Never' };
    harness.server.seed(resources.jobs, {
      metadata: { name: 'pi', namespace: 'default', generation: 1 },
      spec: {
        parallelism: 1,
        backoffLimit: 6,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec },
        ...spec,
      },
    });
    await harness.start();
  }

  async function finish(phase: 'Succeeded' | 'Failed', count = 1) {
    for (const { metadata } of activePods().slice(0, count)) {
      harness.server.change(resources.pods, `default/${metadata?.name}`, (one) => ({
        ...one,
        status: { ...one.status, phase },
      }));
    }
    await harness.settle();
  }

  const change = async (spec: object) => {
    const client = harness.client.resource(resources.jobs, 'default');
    await client.patch('pi', { spec }, { type: 'merge' });
    await harness.settle();
  };

  beforeEach(() => {
    harness = new ControllerHarness([jobController]);
  });
  afterEach(() => harness.stop());

  it('runs as many pods as specified until enough have succeeded', async () => {
    await start({ completions: 3, parallelism: 2 });
    expect(status()).toMatchObject({ active: 2, startTime: expect.any(String) as string });
    await finish('Succeeded');
    expect(status()).toMatchObject({ active: 2, succeeded: 1 });
    await finish('Succeeded', 2);
    expect(status()).toMatchObject({ succeeded: 3, conditions: [{ type: 'Complete' }] });
    expect(status()).not.toHaveProperty('active');
    expect(pods()).toHaveLength(3);
    expect(harness.events()).toContain('Completed: Job completed');
  });

  it('counts a pod that is deleted after it succeeded, also after a restart', async () => {
    await start({ completions: 2 });
    await finish('Succeeded');
    const done = pods().find((one) => one.status?.phase === 'Succeeded');
    await harness.client.resource(resources.pods, 'default').delete(done?.metadata?.name ?? '');
    await harness.settle();
    expect(status()).toMatchObject({ active: 1, succeeded: 1 });
    await harness.stop();
    await harness.start();
    await finish('Succeeded');
    expect(status()).toMatchObject({ succeeded: 2, conditions: [{ type: 'Complete' }] });
    expect(creationCount()).toBe(2);
  });

  it('replaces a failed pod, later ones after a growing pause', async () => {
    await start({});
    await finish('Failed');
    expect(activePods()).toHaveLength(1);
    await finish('Failed');
    await harness.advance(5_000);
    expect(status()).toMatchObject({ active: 1, failed: 1 });
    await harness.advance(6_000);
    expect(status()).toMatchObject({ active: 1, failed: 2 });
    await finish('Failed');
    await harness.advance(15_000);
    expect(status()).toMatchObject({ failed: 2 });
    await harness.advance(6_000);
    expect(status()).toMatchObject({ failed: 3 });
  });

  it('fails above the back-off limit, with its active pods', async () => {
    await start({ backoffLimit: 0, parallelism: 2, completions: 4 });
    await finish('Failed');
    expect(status()).toMatchObject({
      failed: 2,
      conditions: [{ type: 'Failed', reason: 'BackoffLimitExceeded' }],
    });
    expect(activePods()).toEqual([]);
  });

  it('deletes the pods of a failed job if it stopped before', async () => {
    await start({ backoffLimit: 0, parallelism: 2, completions: 4 });
    harness.server.interceptNext('DELETE', resources.pods, () => {
      throw new ApiError(500, 'InternalError', 'broken');
    });
    await finish('Failed');
    await harness.advance(1_000);
    expect(activePods()).toEqual([]);
  });

  it('fails after the active deadline', async () => {
    await start({ activeDeadlineSeconds: 90 });
    await harness.advance(89_000);
    expect(status()).toMatchObject({ active: 1 });
    await harness.advance(2_000);
    expect(status()).toMatchObject({
      failed: 1,
      conditions: [{ reason: 'DeadlineExceeded' }],
    });
    expect(pods()).toEqual([]);
  });

  it('creates no second pod if the response to the first was lost', async () => {
    harness = new ControllerHarness([jobController]);
    let isLost = false;
    const create = harness.server.store.create.bind(harness.server.store);
    harness.server.store.create = (resource, namespace, object) => {
      const created = create(resource, namespace, object);
      if (resource !== resources.pods || isLost) return created;
      isLost = true;
      throw new TransportError('connection_lost', 'lost', true);
    };
    harness.server.seed(resources.jobs, {
      metadata: { name: 'pi', namespace: 'default' },
      spec: {
        ...{ parallelism: 1, completions: 1, selector: { matchLabels: labels } },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main' }] } },
      },
    });
    await harness.start();
    await harness.advance(10_000);
    expect(isLost).toBe(true);
    expect(pods()).toHaveLength(1);
    expect(status()).toMatchObject({ active: 1 });
  });

  it('ignores pods of others that its selector matches', async () => {
    await start({ manualSelector: true });
    const theirs = pod({ name: 'theirs', labels, phase: 'Succeeded' });
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u' };
    const ownerReferences = [{ ...owner, controller: true }];
    harness.server.seed(resources.pods, {
      ...theirs,
      metadata: { ...theirs.metadata, ownerReferences },
    });
    const requestCount = harness.server.requests.length;
    await harness.advance(60_000);
    expect(status()).toMatchObject({ active: 1 });
    expect(status()).not.toHaveProperty('succeeded');
    expect(harness.server.requests).toHaveLength(requestCount);
  });

  it('retries rejected creations with a bounded number of requests', async () => {
    harness = new ControllerHarness([jobController]);
    const reject = () => {
      harness.server.interceptNext('POST', resources.pods, () => {
        reject();
        throw new ApiError(403, 'Forbidden', 'exceeded quota: small');
      });
    };
    reject();
    harness.server.seed(resources.jobs, {
      metadata: { name: 'pi', namespace: 'default' },
      spec: {
        ...{ parallelism: 10, completions: 10, selector: { matchLabels: labels } },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main' }] } },
      },
    });
    await harness.start();
    await harness.advance(60_000);
    expect(creationCount()).toBeLessThan(20);
    expect(harness.events()).toContain('FailedCreate: Error creating: exceeded quota: small');
  });

  it('skips indexed jobs without their gate', async () => {
    await start({ completionMode: 'Indexed', completions: 2 });
    expect(pods()).toEqual([]);
    expect(harness.events()).toEqual([
      'IndexedJobDisabled: Skipped Indexed Job sync because feature is disabled.',
    ]);
  });

  it('runs each index of an indexed job once', async () => {
    const spec = { completionMode: 'Indexed', completions: 4, parallelism: 3 };
    await start(spec, { gates: { IndexedJob: true } });
    const names = () => pods().map(({ metadata }) => metadata?.generateName);
    expect(names().sort()).toEqual(['pi-0-', 'pi-1-', 'pi-2-']);
    await finish('Succeeded', 3);
    expect(status()).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
    expect(names().sort()).toEqual(['pi-0-', 'pi-1-', 'pi-2-', 'pi-3-']);
    await finish('Succeeded');
    expect(status()).toMatchObject({ completedIndexes: '0-3', conditions: [{ type: 'Complete' }] });
  });

  it('deletes its pods while suspended, and starts again when resumed', async () => {
    await start({ suspend: true }, { gates: { SuspendJob: true } });
    expect(pods()).toEqual([]);
    expect(status()).not.toHaveProperty('startTime');
    await change({ suspend: false });
    expect(activePods()).toHaveLength(1);
    expect(status()?.startTime).toBe(at(0));
    await harness.advance(30_000);
    await change({ suspend: true });
    expect(pods()).toEqual([]);
    expect(status()?.conditions).toMatchObject([
      { type: 'Suspended', status: 'True', reason: 'JobSuspended' },
    ]);
    expect(harness.events()).toEqual(
      expect.arrayContaining(['Suspended: Job suspended', 'Resumed: Job resumed']),
    );
  });

  it('follows a changed parallelism', async () => {
    await start({ completions: 5, parallelism: 1 });
    await change({ parallelism: 3 });
    expect(activePods()).toHaveLength(3);
    await change({ parallelism: 0 });
    expect(pods()).toEqual([]);
    expect(status()).not.toHaveProperty('active');
  });
});
