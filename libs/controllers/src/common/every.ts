/** Periodic work. */
import { type Clock, type Logger, sleep } from '@orch/component';

/**
 * Runs `act` until `signal` aborts, with a pause of `periodMs` after each run, so that runs never
 * overlap. A failure is logged and the next run retries.
 */
export async function every(
  periodMs: number,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
  act: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await act();
    } catch (error) {
      logger.warn({ err: error, periodMs }, 'periodic work failed, next period retries');
    }
    await sleep(periodMs, signal, clock).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
  }
}
