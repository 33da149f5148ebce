/** Admits requests at the rate of the gate; a request that gets no seat is rejected with 429. */
import { type RequestGate, requestKind } from '../http/request-gate.js';
import type { RequestMetrics } from '../observability/request-metrics.js';
import { sendOverload } from '../response/status.js';
import type { Filter } from './filter.js';

export function limitConcurrency(gate: RequestGate, metrics: RequestMetrics): Filter {
  return async (context, next) => {
    if (context.isLongRunning) return next(context);
    const entered = gate.enter(context);
    const seat = entered instanceof Promise ? await entered : entered;
    if (!seat) {
      if (context.recorder) metrics.refused(context.recorder, requestKind(context.info.verb));
      sendOverload(context);
      return;
    }
    context.seat = seat;
    try {
      await next(context);
    } finally {
      context.releaseSeat();
    }
  };
}
