/** Runs one task many times with bounded concurrency. */

export interface BatchResult {
  readonly successCount: number;
  /** The first failure. */
  readonly error: unknown;
}

/**
 * Runs `task` up to `count` times, in batches of 1, 2, 4, ..., and stops after a batch with a
 * failure: a request that quota or admission rejects is rejected once, not `count` times.
 */
export async function slowStart(
  count: number,
  task: (index: number) => Promise<void>,
): Promise<BatchResult> {
  let successCount = 0;
  let started = 0;
  for (let size = 1; started < count; size *= 2) {
    const batchSize = Math.min(size, count - started);
    const first = started;
    const results = await Promise.allSettled(
      Array.from({ length: batchSize }, (_, index) => task(first + index)),
    );
    started += batchSize;
    const failed = results.filter((result) => result.status === 'rejected');
    successCount += batchSize - failed.length;
    if (failed[0]) return { successCount, error: failed[0].reason };
  }
  return { successCount, error: undefined };
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
