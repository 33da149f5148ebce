import { resources } from '@orch/client';
import { afterEach, describe, expect, it } from 'vitest';
import { at } from '../../test/objects.js';
import { ControllerHarness, type HarnessOptions } from '../testing/controller-harness.js';
import { ttlAfterFinishedController } from './ttl-after-finished-controller.js';

describe('ttlAfterFinishedController', () => {
  let harness: ControllerHarness;
  /** Names of jobs that are not being deleted; a foreground deletion waits for the pods. */
  const names = () =>
    harness.server
      .list(resources.jobs)
      .flatMap(({ metadata }) => (metadata?.deletionTimestamp ? [] : (metadata?.name ?? '')));

  async function start(ttlSecondsAfterFinished?: number, options?: HarnessOptions) {
    harness = new ControllerHarness([ttlAfterFinishedController], options);
    const conditions = [{ type: 'Complete', status: 'True' as const, lastTransitionTime: at(0) }];
    const template = { spec: { containers: [] } };
    harness.server.seed(resources.jobs, {
      metadata: { name: 'done', namespace: 'default' },
      spec: { template, ...(ttlSecondsAfterFinished !== undefined && { ttlSecondsAfterFinished }) },
      status: { conditions },
    });
    harness.server.seed(resources.jobs, {
      metadata: { name: 'running', namespace: 'default' },
      spec: { template, ttlSecondsAfterFinished: 0 },
    });
    await harness.start();
  }
  afterEach(() => harness.stop());

  it('deletes a finished job when its lifetime is over, and no other', async () => {
    await start(90);
    await harness.advance(88_000);
    expect(names()).toEqual(['done', 'running']);
    await harness.advance(3_000);
    expect(names()).toEqual(['running']);
    const deletion = harness.server.requests.find(({ method }) => method === 'DELETE');
    expect(deletion?.body).toMatchObject({ propagationPolicy: 'Foreground' });
  });

  it('applies a lifetime that is set after the end', async () => {
    await start();
    await harness.advance(100_000);
    expect(names()).toEqual(['done', 'running']);
    const spec = { ttlSecondsAfterFinished: 5 };
    const jobs = harness.client.resource(resources.jobs, 'default');
    await jobs.patch('done', { spec }, { type: 'merge' });
    await harness.settle();
    expect(names()).toEqual(['running']);
  });

  it('reads a lifetime that was extended in the meantime', async () => {
    await start(10);
    harness.server.interceptNext('GET', resources.jobs, () => {
      harness.server.change(resources.jobs, 'default/done', (job) => ({
        ...job,
        spec: { ...job.spec!, ttlSecondsAfterFinished: 1_000 },
      }));
    });
    await harness.advance(60_000);
    expect(names()).toEqual(['done', 'running']);
  });

  it('does nothing without its gate', async () => {
    await start(0, { gates: { TTLAfterFinished: false } });
    expect(names()).toEqual(['done', 'running']);
  });
});
