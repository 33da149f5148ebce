import { expect, it } from 'vitest';
import { startGarbageDelayMs, startHeapBytesMax } from '../limits.js';
import { TestClock } from '../testing/test-clock.js';
import { sleep } from './deadline.js';
import { collectStartGarbage } from './start-garbage.js';

it.each([
  ['frees', startHeapBytesMax, true],
  ['leaves', startHeapBytesMax + 1, false],
])('%s what the start has left when the heap has %i bytes', async (_, heapBytes, isFreed) => {
  const clock = new TestClock();
  const left = garbage();
  collectStartGarbage(clock, () => heapBytes);
  // A weak reference holds its object until the turn that created it is over.
  await sleep(0);
  await clock.advance(startGarbageDelayMs);
  expect(left.deref() === undefined).toBe(isFreed);
});

function garbage(): WeakRef<object> {
  return new WeakRef({ buffer: new Array(1_000).fill(0) });
}
