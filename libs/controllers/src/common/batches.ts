/** Runs one task many times with bounded concurrency. */

export interface BatchResult {
  readonly successCount: number;
  /** The first failure. */
  readonly error: unknown;
}

/** Tasks that run in batches, each of which ends before the next begins. */
const batchedCount = 15;

/**
 * Runs `task` up to `count` times and starts none after a failure: a request that quota or
 * admission rejects is rejected a few times, not `count` times. The first run in batches of 1, 2, 4
 * and 8; from then on as many run at a time as have succeeded.
 */
export function slowStart(
  count: number,
  task: (index: number) => Promise<void>,
): Promise<BatchResult> {
  let started = 0;
  let running = 0;
  let successCount = 0;
  let failure: { readonly error: unknown } | undefined;
  return new Promise((resolve) => {
    const startMore = () => {
      const isBatched = started < batchedCount;
      if (isBatched && running > 0) return;
      const mostRunning = successCount + 1;
      while (!failure && started < count && running < mostRunning) {
        void run(started);
        started += 1;
      }
      if (running === 0) resolve({ successCount, error: failure?.error });
    };
    const run = async (index: number) => {
      running += 1;
      try {
        await task(index);
        successCount += 1;
      } catch (error) {
        failure ??= { error };
      }
      running -= 1;
      startMore();
    };
    startMore();
  });
}

/** Runs `task` on every item, at most `concurrency` at a time. @returns the failures. */
export async function forEachBounded<T>(
  items: readonly T[],
  concurrency: number,
  task: (item: T) => Promise<void>,
): Promise<unknown[]> {
  const errors: unknown[] = [];
  const remaining = items.values();
  const worker = async () => {
    for (const item of remaining) {
      try {
        await task(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return errors;
}
