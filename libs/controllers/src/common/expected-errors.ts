/** Errors that a controller expects from a write because its cache may be behind. */

export type ErrorPredicate = (error: unknown) => boolean;

/**
 * The result of `request`, or undefined if it fails with one of the expected errors. A controller
 * that lost against another writer or a deletion has nothing left to do: the watch delivers the
 * outcome and enqueues.
 */
export async function ignoring<T>(
  request: Promise<T>,
  ...expected: readonly ErrorPredicate[]
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (expected.some((isExpected) => isExpected(error))) return undefined;
    throw error;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
