/** Long work in short slices, which yields to the event loop in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { responseSliceMs } from '../limits.js';

/** Calls `take` with every piece. `nowMs`: a monotonic clock. */
export async function inSlices<T>(
  pieces: Iterable<T>,
  take: (piece: T) => void,
  nowMs: () => number,
): Promise<void> {
  let sliceEndMs = nowMs() + responseSliceMs;
  for (const piece of pieces) {
    take(piece);
    if (nowMs() < sliceEndMs) continue;
    await nextTurn();
    sliceEndMs = nowMs() + responseSliceMs;
  }
}
