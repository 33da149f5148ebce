/** Acts as the node agents would: reports pods as running and ready. */
import { resources } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import type { ControllerHarness } from './controller-harness.js';

/** Reports every pod that is not being deleted as ready, and settles. */
export async function makePodsReady(harness: ControllerHarness): Promise<void> {
  const { server, clock } = harness;
  const now = new Date(clock.nowMs()).toISOString().replace(/\.\d+/, '');
  for (const pod of server.list(resources.pods)) {
    const isReady = pod.status?.conditions?.some(({ status }) => status === 'True');
    if (isReady || pod.metadata?.deletionTimestamp) continue;
    const key = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
    server.change(resources.pods, key, (object) => readyPod(object, now));
  }
  await harness.settle();
}

function readyPod(pod: Pod, since: string): Pod {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: since }];
  return { ...pod, status: { ...pod.status, phase: 'Running', conditions } };
}
