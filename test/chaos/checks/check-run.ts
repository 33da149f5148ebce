/** Everything that clients and watchers noted, against the one log that the servers tell. */
import { checkHistory } from '../../history/check-history.js';
import { checkWatch } from '../../history/check-watch.js';
import type { Violation } from '../../history/history.js';
import { ReplayedState } from '../../history/replayed-state.js';
import type { Load } from '../load/load.js';
import { checkEvents } from './check-events.js';
import { placeDeletions } from './deletions.js';
import { truthOf } from './truth.js';

export interface CheckedRun {
  readonly violations: readonly Violation[];
  readonly eventCount: number;
}

/** The load must be settled: every witness has told everything. */
export function checkRun({ notes, witnesses, roamers, passing }: Load): CheckedRun {
  const truth = truthOf(witnesses);
  const state = new ReplayedState(truth.log);
  const placed = placeDeletions(notes.writes, truth);
  const violations = [
    ...truth.violations,
    ...placed.violations,
    ...checkHistory({ state, writes: placed.writes, reads: notes.reads, sharesRevisions: true }),
    ...notes.odd.map(({ at, detail }) => ({
      rule: 'odd answer',
      detail: `at ${Math.round(at)}: ${detail}`,
    })),
  ];
  for (const watcher of [...witnesses, ...roamers, ...passing]) {
    for (const record of watcher.records) violations.push(...checkWatch(record, state));
    violations.push(...checkEvents(watcher, state));
  }
  return { violations, eventCount: truth.log.length };
}
