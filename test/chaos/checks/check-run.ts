/** Compares the records of all clients and watchers with the log of the servers. */
import { checkHistory } from '../../history/check-history.js';
import { checkWatch } from '../../history/check-watch.js';
import type { Violation } from '../../history/history.js';
import { ReplayedState } from '../../history/replayed-state.js';
import type { Load } from '../load/load.js';
import { type Selector, selectors } from '../load/selectors.js';
import { checkEvents } from './check-events.js';
import { placeDeletions } from './deletions.js';
import { selectedLog } from './selected-log.js';
import { truthOf } from './truth.js';

export interface CheckedRun {
  readonly violations: readonly Violation[];
  readonly eventCount: number;
}

/** The load must be settled: every witness has received every event. */
export function checkRun({ notes, watchers }: Load): CheckedRun {
  const truth = truthOf(watchers.witnesses);
  const state = new ReplayedState(truth.log);
  const seenBy = new Map<Selector | undefined, ReplayedState>([[undefined, state]]);
  for (const selector of selectors) {
    seenBy.set(selector, new ReplayedState(selectedLog(truth.log, selector)));
  }
  const placed = placeDeletions(notes.writes, truth);
  const violations = [
    ...truth.violations,
    ...placed.violations,
    ...checkHistory({ state, writes: placed.writes, reads: notes.reads, sharesRevisions: true }),
    ...notes.unexpected.map(({ at, detail }) => ({
      rule: 'unexpected response',
      detail: `at ${Math.round(at)}: ${detail}`,
    })),
  ];
  for (const watcher of watchers.all) {
    const seen = seenBy.get(watcher.options.selector)!;
    for (const record of watcher.records) violations.push(...checkWatch(record, seen));
    violations.push(...checkEvents(watcher, seen));
  }
  return { violations, eventCount: truth.log.length };
}
