/** Waits for conditions, with a deadline whose error names the condition. */
export function sleep(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

const pollMs = 50;

/** Resolves with the first result that is neither undefined nor false. */
export async function eventually<Found>(
  what: string,
  timeoutMs: number,
  look: () => Promise<Found | undefined | false> | Found | undefined | false,
): Promise<Found> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > untilMs) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(pollMs);
  }
}
