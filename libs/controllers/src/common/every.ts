/** Doing something again and again, never twice at once. */
import { type Clock, type Logger, sleep } from '@orch/component';

/** Runs `act`, waits `periodMs`, and so on until `signal` aborts. A failure is logged, not passed on. */
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
      logger.warn({ err: error }, 'periodic work failed, will be tried again');
    }
    await sleep(periodMs, signal, clock).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
  }
}
