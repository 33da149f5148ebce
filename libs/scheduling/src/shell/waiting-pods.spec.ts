import { expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { WaitingPods } from './waiting-pods.js';

it('holds a pod until it is allowed, rejected or the time is over', async () => {
  const clock = new TestClock();
  const waiting = new WaitingPods(clock);
  const allowed = waiting.wait('a', 1_000);
  const rejected = expect(waiting.wait('b', 1_000)).rejects.toThrow('preempted');
  const late = expect(waiting.wait('c', 1_000)).rejects.toThrow('not permitted within 1000 ms');
  expect(waiting.allow('a')).toBe(true);
  expect(waiting.reject('b', 'preempted')).toBe(true);
  await allowed;
  await rejected;
  await clock.advance(1_000);
  await late;
  expect(waiting.size).toBe(0);
  expect(waiting.allow('a')).toBe(false);
});
