/** Helpers of the tests of the client. */
import { createLogger, type Logger } from '@orch/component';
import type { TestClock } from '../../component/src/testing/test-clock.js';

export const quietLogger: Logger = createLogger({
  component: 'test',
  format: 'json',
  level: 'fatal',
  write: () => undefined,
});

/** Resolves when `condition` holds. Throws an error that names `what` after five seconds. */
export async function eventually(what: string, condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000; turn++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`never happened: ${what}`);
}

/**
 * Advances the clock until `condition` holds, by at most `withinMs`. Real responses arrive in
 * between.
 */
export async function advanceUntil(
  clock: TestClock,
  withinMs: number,
  condition: () => boolean,
): Promise<void> {
  for (let passedMs = 0; !condition(); passedMs += 100) {
    if (passedMs > withinMs) throw new Error(`not within ${withinMs} ms`);
    await clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
