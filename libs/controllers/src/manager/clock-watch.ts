/**
 * Reports jumps of the wall clock: schedules, deadlines of jobs, lifetimes and ages of objects are
 * measured by it, so that a jump explains what the controllers do next.
 */
import type { EventRecorder } from '@orch/client';
import { type Clock, dialect, type Logger } from '@orch/component';
import { every } from '../common/every.js';
import { limits } from '../limits.js';

export interface ClockWatchDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
}

/**
 * Compares the wall clock with the monotonic clock until `signal` aborts. Records a jump as an
 * event of the system namespace.
 */
export function watchClock(
  { clock, logger, recorder }: ClockWatchDependencies,
  signal: AbortSignal,
): Promise<void> {
  const offset = () => clock.nowMs() - clock.monotonicMs();
  let offsetMs = offset();
  return every(limits.clockCheckPeriodMs, clock, logger, signal, async () => {
    const jumpMs = offset() - offsetMs;
    offsetMs = offset();
    if (Math.abs(jumpMs) < limits.clockJumpMsMin) return;
    const direction = jumpMs > 0 ? 'ahead' : 'back';
    const seconds = Math.round(Math.abs(jumpMs) / 1_000);
    const message = `the clock of the controller manager jumped ${direction} by ${seconds} s: schedules, deadlines and lifetimes of objects are measured from the new time`;
    logger.warn({ jumpMs }, 'the clock jumped');
    const namespace = { apiVersion: 'v1', kind: 'Namespace', name: dialect().systemNamespace };
    recorder.event(namespace, 'Warning', 'ClockJumped', message);
  });
}
