import { beforeEach, describe, expect, it } from 'vitest';
import { prioritySort } from '../plugins/priority-sort.js';
import { info, ManualClock } from '../testing/builders.js';
import { SchedulingQueue } from './scheduling-queue.js';

describe('SchedulingQueue', () => {
  let clock: ManualClock;
  let queue: SchedulingQueue;
  beforeEach(() => {
    clock = new ManualClock();
    queue = new SchedulingQueue(clock, prioritySort.queueSort);
  });
  const takeKeys = () => {
    const keys: string[] = [];
    for (let entry = queue.take(); entry; entry = queue.take()) keys.push(entry.info.name);
    return keys;
  };
  const fail = (name: string) => {
    queue.add(info({ name }));
    const entry = queue.take();
    queue.failed(entry!.key);
  };

  it('returns pods by priority, then by arrival', () => {
    queue.add(info({ name: 'a' }));
    queue.add(info({ name: 'urgent', spec: { priority: 10 } }));
    queue.add(info({ name: 'b' }));
    expect(takeKeys()).toEqual(['urgent', 'a', 'b']);
  });

  it('retries a failed pod after a change and its back-off', () => {
    fail('a');
    clock.timeMs += 500;
    queue.flush();
    expect(queue.take()).toBeUndefined();
    queue.moveRejected([]);
    expect(queue.sizes).toEqual({ active: 0, backoff: 1, unschedulable: 0 });
    expect(queue.nextBackoffMs()).toBe(500);
    clock.timeMs += 500;
    queue.flush();
    expect(takeKeys()).toEqual(['a']);
  });

  it('doubles the back-off up to ten seconds', () => {
    fail('a');
    const waits: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      queue.moveRejected([]);
      waits.push(queue.nextBackoffMs()!);
      clock.timeMs += waits.at(-1)!;
      queue.flush();
      queue.failed(queue.take()!.key);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it('retries only the pods that a change concerns', () => {
    fail('a');
    fail('b');
    clock.timeMs += 5_000;
    queue.moveRejected([], ({ info: waiting }) => waiting.name === 'b');
    expect(takeKeys()).toEqual(['b']);
  });

  it('retries only the pods that one of the plugins of an event has rejected', () => {
    for (const [name, plugin] of [
      ['a', 'Fit'],
      ['b', 'Affinity'],
    ] as const) {
      queue.add(info({ name }));
      queue.failed(queue.take()!.key, new Set([plugin]));
    }
    clock.timeMs += 5_000;
    queue.moveRejected(['Affinity', 'Ports']);
    expect(takeKeys()).toEqual(['b']);
  });

  it('does not miss a change during an attempt', () => {
    queue.add(info({ name: 'a' }));
    const entry = queue.take()!;
    queue.moveRejected([]);
    queue.failed(entry.key);
    expect(queue.sizes.backoff).toBe(1);
  });

  it('retries an unschedulable pod after a minute without an event', () => {
    fail('a');
    clock.timeMs += 59_999;
    queue.flush();
    expect(queue.sizes.active).toBe(0);
    clock.timeMs += 1;
    queue.flush();
    expect(takeKeys()).toEqual(['a']);
  });

  it('retries a bounded number of pods at a time because of that minute', () => {
    for (let index = 0; index < 120; index++) fail(`p${index}`);
    clock.timeMs += 60_000;
    const active = [1, 2, 3].map(() => {
      queue.flush();
      return queue.sizes.active;
    });
    expect(active).toEqual([50, 100, 120]);
  });

  it('retries a changed pod, unless only its status has changed', () => {
    fail('a');
    clock.timeMs += 5_000;
    queue.update(info({ name: 'a' }), false);
    expect(queue.sizes.unschedulable).toBe(1);
    queue.update(info({ name: 'a', labels: { x: 'y' } }));
    expect(queue.take()!.info.labels).toEqual({ x: 'y' });
  });

  it('removes deleted pods in every state, and one in flight when it fails', () => {
    fail('failed');
    queue.add(info({ name: 'active' }));
    const taken = queue.take()!;
    queue.delete(taken.key);
    queue.delete('default/failed');
    queue.failed(taken.key);
    expect(queue.sizes).toEqual({ active: 0, backoff: 0, unschedulable: 0 });
  });

  it('rejects pods above its limit', () => {
    queue = new SchedulingQueue(clock, prioritySort.queueSort, {
      backoffInitialMs: 1,
      backoffMaxMs: 2,
      podCountMax: 1,
    });
    expect(queue.add(info({ name: 'a' }))).toBe(true);
    expect(queue.add(info({ name: 'b' }))).toBe(false);
  });
});
