/** Waiting for conditions, never for time. */

/**
 * Calls `probe` until it returns a value other than undefined or false, and reports its last error.
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last = 'never true';
  while (performance.now() < deadline) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      last = 'not yet true';
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`waited ${timeoutMs} ms for ${what}: ${last}`);
}
