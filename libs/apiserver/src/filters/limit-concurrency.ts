/**
 * Admits requests at the rate of the gate; a request that gets no seat is rejected with 429, later
 * if many are. `account` releases the seat.
 */
import type { PacedRefusals } from '../flowcontrol/paced-refusals.js';
import type { RequestContext } from '../http/request-context.js';
import { type RequestGate, requestKind, type Seat } from '../http/request-gate.js';
import type { RequestMetrics } from '../observability/request-metrics.js';
import { sendOverload } from '../response/status.js';
import type { Filter, Next } from './filter.js';

export function limitConcurrency(
  gate: RequestGate,
  metrics: RequestMetrics,
  refusals: PacedRefusals,
): Filter {
  const nextAfter = async (
    entered: Promise<Seat | undefined> | undefined,
    context: RequestContext,
    next: Next,
  ) => {
    const seat = await entered;
    context.seat = seat;
    if (seat) return next(context);
    if (context.recorder) metrics.refused(context.recorder, requestKind(context.info.verb));
    await refusals.wait();
    sendOverload(context);
  };
  return (next) => (context) => {
    if (context.isLongRunning) return next(context);
    const seat = gate.enter(context);
    if (seat === undefined || seat instanceof Promise) return nextAfter(seat, context, next);
    context.seat = seat;
    return next(context);
  };
}
