/**
 * Merges the events of the witnesses of all servers into the log that all observations are compared
 * with. Reports servers whose events of one revision differ.
 */
import type { LoggedEvent, Violation } from '../../history/history.js';
import type { EventFacts, Watcher } from '../load/watcher.js';

export interface Truth {
  /** In order of revision. */
  readonly log: readonly LoggedEvent[];
  /** By `<key>@<revision>`. */
  readonly facts: ReadonlyMap<string, EventFacts>;
  readonly violations: readonly Violation[];
}

export function truthOf(witnesses: readonly Watcher[]): Truth {
  const events = new Map<string, LoggedEvent>();
  const facts = new Map<string, EventFacts>();
  const violations: Violation[] = [];
  for (const witness of witnesses) {
    for (const { events: seen } of witness.records) {
      for (const event of seen) {
        if (event.kind === 'bookmark') continue;
        const place = `${event.key}@${event.revision}`;
        const known = events.get(place);
        const told = witness.facts.get(place);
        if (!known) {
          events.set(place, event);
          if (told) facts.set(place, told);
          continue;
        }
        if (known.kind === event.kind && known.value === event.value) continue;
        violations.push({
          rule: 'servers differ',
          detail: `${place}: ${witness.options.id} says ${event.kind} ${event.value}, another ${known.kind} ${known.value}`,
        });
      }
    }
  }
  const log = [...events.values()].sort((left, right) => left.revision - right.revision);
  for (let at = 1; at < log.length; at += 1) {
    if (log[at]!.revision !== log[at - 1]!.revision) continue;
    violations.push({
      rule: 'servers differ',
      detail: `revision ${log[at]!.revision} is of ${log[at - 1]!.key} and of ${log[at]!.key}`,
    });
  }
  return { log, facts, violations };
}
