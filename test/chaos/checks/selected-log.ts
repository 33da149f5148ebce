/**
 * What happened as a watch with a selector is told it: an object that begins to fit comes into being, one
 * that no longer fits is deleted, and what did not and does not fit never happened.
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
