/**
 * Doing the same thing many times: in batches that double while all goes well, so that a creation that
 * is bound to fail (quota, admission) is refused once and not five hundred times.
 */

export interface BatchResult {
  readonly successCount: number;
  /** The first failure. */
  readonly error: unknown;
}

/** Runs `task` up to `count` times, in batches of 1, 2, 4, ...; stops after a batch with a failure. */
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
    if (failed.length > 0) return { successCount, error: failed[0]!.reason };
  }
  return { successCount, error: undefined };
}

/** Runs `task` on every item, at most `concurrency` at once; all are tried. @returns the failures. */
export async function forEachBounded<T>(
  items: readonly T[],
  concurrency: number,
  task: (item: T) => Promise<void>,
): Promise<unknown[]> {
  const errors: unknown[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++]!;
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
