/**
 * Is every event called what it is: ADDED where nothing was, MODIFIED where something was, with the
 * last content in DELETED?
 */
import type { Violation } from '../../history/history.js';
import type { ReplayedState } from '../../history/replayed-state.js';
import type { Watcher } from '../load/watcher.js';

export function checkEvents({ facts, options }: Watcher, state: ReplayedState): Violation[] {
  const violations: Violation[] = [];
  for (const [place, { type, value }] of facts) {
    const at = place.lastIndexOf('@');
    const before = state.at(place.slice(0, at), Number(place.slice(at + 1)) - 1);
    const isRight =
      type === 'ADDED' ? !before : before && (type === 'MODIFIED' || before.value === value);
    if (isRight) continue;
    violations.push({
      rule: 'watch: wrong event',
      detail: `${options.id}: ${place} is ${type} ${value}, before it ${before?.value ?? 'nothing'} was there`,
    });
  }
  return violations;
}
