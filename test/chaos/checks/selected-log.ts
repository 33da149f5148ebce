/**
 * Converts the log to the events of a watch with a selector: an object that starts to match is
 * added, one that no longer matches is deleted, and changes between versions that do not match are
 * omitted.
 */
import type { LoggedEvent } from '../../history/history.js';
import type { Selector } from '../load/selectors.js';

export function selectedLog(log: readonly LoggedEvent[], { selects }: Selector): LoggedEvent[] {
  const fitting = new Set<string>();
  return log.flatMap((event): LoggedEvent[] => {
    const { key, kind, value } = event;
    const fitted = fitting.has(key);
    if (kind === 'put' && selects(value)) {
      fitting.add(key);
      return [event];
    }
    fitting.delete(key);
    return fitted ? [{ ...event, kind: 'delete', value: '' }] : [];
  });
}
