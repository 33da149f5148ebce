/**
 * Collects the garbage of the start once. The engine keeps the memory of an idle process until it
 * allocates again, and composing a component leaves about 30 MB. A large heap is left alone,
 * because the collection blocks the event loop for as long as marking takes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../clock.js';
import { startGarbageDelayMs, startHeapBytesMax } from '../limits.js';

export function collectStartGarbage(
  clock: Clock,
  heapBytes: () => number = () => process.memoryUsage().heapUsed,
): void {
  clock.setTimer(startGarbageDelayMs, () => {
    if (heapBytes() <= startHeapBytesMax) collectGarbage();
  });
}

function collectGarbage(): void {
  // The function exists only in contexts that are created while the flag is set.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
}
