/** Waiting in simulated time for what may never come: a process that dies settles nothing. */
import { ProcessGone } from '@orch/raft';
import type { SimLoop } from './sim-loop.js';

/** Undefined when `work` has not settled within `forMs`: its process has died. */
export function inTime<Result>(
  loop: SimLoop,
  work: Promise<Result>,
  forMs: number,
): Promise<Result | undefined> {
  return new Promise((resolve, reject) => {
    const timer = loop.after(forMs, () => resolve(undefined));
    work.then(
      (result) => {
        timer.cancel();
        resolve(result);
      },
      (error: unknown) => {
        if (error instanceof ProcessGone) return;
        timer.cancel();
        reject(error);
      },
    );
  });
}
