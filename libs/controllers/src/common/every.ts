/** Doing something again and again, never twice at once. */
import { waitMs } from '@orch/client';
import type { Clock, Logger } from '@orch/component';

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
    await waitMs(clock, periodMs, signal).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
  }
}
