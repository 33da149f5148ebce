/**
 * What happened, as the witnesses of all servers tell it together: the log that everything else is
 * compared with. Servers that tell different things of one revision are found here.
 */
import type { LoggedEvent, Violation } from '../../history/history.js';
import type { EventFacts, Watcher } from '../load/watcher.js';

export interface Truth {
  /** In order of revisions. */
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
          detail: `${place}: ${witness.settings.id} says ${event.kind} ${event.value}, another ${known.kind} ${known.value}`,
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
