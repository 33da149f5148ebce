/** Restores the state machine from the state database, in slices that yield to the event loop. */
import type { LoopClock } from '@orch/component';
import { Continuity } from '../core/continuity.js';
import type { StateMachine } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';
import type { StateDatabase, StoredMoment } from './state-database.js';

/** `machine` must be new. Rejects with StoreError `Corrupt` if a record is damaged or missing. */
export async function restoreState(
  machine: StateMachine,
  database: StateDatabase,
  { facts, proposers }: StoredMoment,
  clock: LoopClock,
): Promise<void> {
  // Gaps below it are correct: superseded versions were dropped.
  const oldestRevision = Math.max(facts.compactedRevision, await database.readSwept());
  const continuity = new Continuity();
  for await (const records of database.scan(0, facts.revision)) {
    for (const record of records) {
      continuity.take(record, machine.keys.get(record.entry.key));
      machine.restore(record);
    }
    await clock.nextTurn();
  }
  continuity.end(facts.revision);
  if (continuity.brokenRevision > oldestRevision) {
    throw new StoreError(
      'Corrupt',
      `revision ${continuity.brokenRevision} is incomplete, one of its records or of the versions it supersedes is missing: restore this data directory from a backup or another replica`,
    );
  }
  machine.historyFloor = Math.min(oldestRevision, facts.revision);
  machine.restored(facts, proposers);
}
