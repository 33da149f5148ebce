import type { Clock } from '@orch/component';
import { beforeEach, describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import type { ClusterCache } from '../cache/cluster-cache.js';
import type { Plugin } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import { prioritySort } from '../plugins/priority-sort.js';
import { SchedulingQueue } from '../queue/scheduling-queue.js';
import { clusterOf, info, node, noObjects, profileOf } from '../testing/builders.js';
import { RetryBatch } from './retry-batch.js';

const backoffMs = 1_000;

describe('RetryBatch', () => {
  let clock: TestClock;
  let queue: SchedulingQueue;
  let cache: ClusterCache;
  let checkCount: number;
  let checkMs: number;
  let checkedMs: number;
  let retries: RetryBatch;

  beforeEach(async () => {
    clock = new TestClock();
    queue = new SchedulingQueue(clock, prioritySort.queueSort);
    cache = clusterOf(node('small', { allocatable: { cpu: '1' } }), node('large'));
    checkCount = 0;
    checkMs = 0;
    checkedMs = 0;
    const busyClock: Clock = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs() + checkedMs,
      setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
    };
    const counting: Plugin & Pick<Required<Plugin>, 'filter'> = {
      name: 'Counting',
      precheck: () => () => {
        checkCount++;
        checkedMs += checkMs;
        return undefined;
      },
      filter: () => undefined,
    };
    const base = profileOf();
    const profile: Profile = { ...base, filters: [counting, ...base.filters] };
    retries = new RetryBatch({
      ...{ cache, queue, clock: busyClock, objects: noObjects, wake: () => undefined },
      profiles: new Map([[profile.schedulerName, profile]]),
    });
    for (const [name, cpu] of Object.entries({ a: '1', b: '3', c: '9' })) {
      queue.add(info({ name, requests: { cpu } }));
      queue.failed(queue.take()!.key, new Set(['NodeResourcesFit']));
    }
    await clock.advance(backoffMs);
  });

  const activeKeys = () => {
    const keys: string[] = [];
    for (let entry = queue.take(); entry; entry = queue.take()) keys.push(entry.info.name);
    return keys;
  };

  it('retries the pods that fit on one of the changed nodes', async () => {
    retries.nodeChanged('pod removed', 'small');
    retries.nodeChanged('pod removed', 'large');
    await clock.advance(1);
    expect(activeKeys()).toEqual(['a', 'b']);
  });

  it('examines a waiting pod once for many removed pods of a node', async () => {
    for (let count = 0; count < 10_000; count++) retries.nodeChanged('pod removed', 'small');
    await clock.advance(1);
    expect(checkCount).toBe(3);
  });

  it('pauses after a long examination, and covers the changes of that time afterwards', async () => {
    checkMs = 100;
    retries.nodeChanged('pod removed', 'small');
    await clock.advance(1);
    expect(activeKeys()).toEqual(['a']);
    retries.nodeChanged('pod removed', 'large');
    await clock.advance(1_000);
    expect(activeKeys()).toEqual([]);
    await clock.advance(2_000);
    expect(activeKeys()).toEqual(['b']);
  });

  it('retries pods that a plugin of wider scope rejected, whatever the node', async () => {
    queue.add(info({ name: 'd', requests: { cpu: '9' } }));
    queue.failed(queue.take()!.key, new Set(['InterPodAffinity']));
    await clock.advance(backoffMs);
    retries.nodeChanged('pod removed', 'small');
    await clock.advance(1);
    expect(activeKeys()).toEqual(['a', 'd']);
  });
});
