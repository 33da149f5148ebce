import { beforeEach, describe, expect, it } from 'vitest';
import { info, ManualClock } from '../testing/builders.js';
import { SchedulingQueue } from './scheduling-queue.js';

describe('SchedulingQueue', () => {
  let clock: ManualClock;
  let queue: SchedulingQueue;
  beforeEach(() => {
    clock = new ManualClock();
    queue = new SchedulingQueue(clock);
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

  it('hands pods out by priority, then by arrival', () => {
    queue.add(info({ name: 'a' }));
    queue.add(info({ name: 'urgent', spec: { priority: 10 } }));
    queue.add(info({ name: 'b' }));
    expect(takeKeys()).toEqual(['urgent', 'a', 'b']);
  });

  it('keeps a failed pod until something changes, then lets it wait out its back-off', () => {
    fail('a');
    clock.timeMs += 500;
    queue.flush();
    expect(queue.take()).toBeUndefined();
    queue.moveAll();
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
      queue.moveAll();
      waits.push(queue.nextBackoffMs()!);
      clock.timeMs += waits.at(-1)!;
      queue.flush();
      queue.failed(queue.take()!.key);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it('moves only the pods that a change concerns', () => {
    fail('a');
    fail('b');
    clock.timeMs += 5_000;
    queue.moveAll((pod) => pod.name === 'b');
    expect(takeKeys()).toEqual(['b']);
  });

  it('does not lose a change that comes while a pod is being tried', () => {
    queue.add(info({ name: 'a' }));
    const entry = queue.take()!;
    queue.moveAll();
    queue.failed(entry.key);
    expect(queue.sizes.backoff).toBe(1);
  });

  it('tries an unschedulable pod again after a minute without any event', () => {
    fail('a');
    clock.timeMs += 59_999;
    queue.flush();
    expect(queue.sizes.active).toBe(0);
    clock.timeMs += 1;
    queue.flush();
    expect(takeKeys()).toEqual(['a']);
  });

  it('tries a changed pod again, and not one whose status alone has changed', () => {
    fail('a');
    clock.timeMs += 5_000;
    queue.update(info({ name: 'a' }), false);
    expect(queue.sizes.unschedulable).toBe(1);
    queue.update(info({ name: 'a', labels: { x: 'y' } }));
    expect(queue.take()!.info.labels).toEqual({ x: 'y' });
  });

  it('forgets deleted pods wherever they are, and a taken one when it fails', () => {
    fail('failed');
    queue.add(info({ name: 'active' }));
    const taken = queue.take()!;
    queue.delete(taken.key);
    queue.delete('default/failed');
    queue.failed(taken.key);
    expect(queue.sizes).toEqual({ active: 0, backoff: 0, unschedulable: 0 });
  });

  it('refuses pods over its limit', () => {
    queue = new SchedulingQueue(clock, { backoffInitialMs: 1, backoffMaxMs: 2, podCountMax: 1 });
    expect(queue.add(info({ name: 'a' }))).toBe(true);
    expect(queue.add(info({ name: 'b' }))).toBe(false);
  });
});
