import { describe, expect, it } from 'vitest';
import { settle, TestClock } from '../../../component/src/testing/test-clock.js';
import { QueueFullError, WorkQueue } from './work-queue.js';

const queueOn = (clock: TestClock, more = {}) => new WorkQueue({ name: 'test', clock, ...more });

describe('WorkQueue', () => {
  it('holds a key once and returns keys in order', async () => {
    const queue = queueOn(new TestClock());
    for (const key of ['a', 'b', 'a']) queue.add(key);
    expect([await queue.next(), await queue.next()]).toEqual(['a', 'b']);
    expect(queue.depth).toBe(0);
  });

  it('returns a key in work again only when it is done', async () => {
    const queue = queueOn(new TestClock());
    queue.add('a');
    await queue.next();
    queue.add('a');
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(await queue.next()).toBe('a');
  });

  it('never works on a key concurrently, nor with more workers than configured', async () => {
    const clock = new TestClock();
    const queue = queueOn(clock);
    const running = new Set<string>();
    let most = 0;
    let handled = 0;
    const done = queue.run(3, async (key) => {
      expect(running.has(key)).toBe(false);
      running.add(key);
      most = Math.max(most, running.size);
      queue.add(key === 'k0' && handled < 20 ? 'k0' : 'k1');
      await settle();
      running.delete(key);
      handled++;
      if (handled > 40) queue.shutDown();
      return undefined;
    });
    for (let index = 0; index < 10; index++) queue.add(`k${index}`);
    await done;
    expect(most).toBe(3);
  });

  it('delays a key until the earlier of two times', async () => {
    const clock = new TestClock();
    const queue = queueOn(clock);
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 100);
    queue.addAfter('a', 500);
    await clock.advance(99);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
    expect(clock.timerCount).toBe(0);
  });

  it('doubles the delay of a failing key until the key is forgotten', async () => {
    const clock = new TestClock();
    const queue = queueOn(clock);
    const times: number[] = [];
    const done = queue.run(1, async () => {
      times.push(clock.monotonicMs());
      if (times.length < 6) throw new Error('not yet');
      return 70;
    });
    queue.add('a');
    await clock.advance(155);
    expect(times).toEqual([0, 5, 15, 35, 75, 155]);
    expect(queue.failureCount('a')).toBe(0);
    await clock.advance(70);
    expect(times.at(-1)).toBe(225);
    queue.shutDown();
    await done;
  });

  it('limits the rate of retries over all keys', async () => {
    const clock = new TestClock();
    const queue = queueOn(clock, { retryQps: 10, retryBurst: 2 });
    for (const key of ['a', 'b', 'c', 'd']) queue.addRateLimited(key);
    await clock.advance(10);
    expect(queue.depth).toBe(2);
    await clock.advance(200);
    expect(queue.depth).toBe(4);
  });

  it('rejects a key when it is full', () => {
    const queue = queueOn(new TestClock(), { keyCountMax: 2 });
    queue.add('a');
    queue.addAfter('b', 10);
    expect(() => queue.add('c')).toThrow(QueueFullError);
    expect(() => queue.add('a')).not.toThrow();
  });
});
