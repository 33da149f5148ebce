import type { ApiClient } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { podSyncTimeoutMs } from '../limits.js';
import type { PodContext } from './pod-context.js';
import { PodWorkers } from './pod-workers.js';

describe('PodWorkers', () => {
  it('reports a sync that hangs', async () => {
    const clock = new TestClock();
    let release: () => void = () => undefined;
    const hang = new Promise<never>((_resolve, reject) => {
      release = () => reject(new Error('the runtime is gone'));
    });
    const runtime = { listSandboxes: () => hang, listContainers: async () => [] };
    const context = {
      runtime,
      statuses: { newest: (pod: Pod) => pod },
      logger: { error: () => undefined },
      clock,
    } as unknown as PodContext;
    const workers = new PodWorkers({ context, client: {} as ApiClient, random: () => 0 });
    workers.update({ metadata: { name: 'p', namespace: 'n', uid: 'u' } });
    await clock.advance(podSyncTimeoutMs);
    expect(() => workers.checkSyncs()).not.toThrow();
    await clock.advance(1);
    expect(() => workers.checkSyncs()).toThrow('the sync of pod n/p has taken 300 s');
    release();
    await clock.advance(0);
    expect(() => workers.checkSyncs()).not.toThrow();
    await workers.stop();
  });
});
