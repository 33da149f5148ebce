/** Counts open long-running requests; `account` counts their end. */
import type { Filter } from './filter.js';

export const countLongRunning: Filter = (next) => (context) => {
  if (context.isLongRunning && context.served) {
    context.recorder?.longRunning(1);
    context.isCounted = true;
  }
  return next(context);
};
