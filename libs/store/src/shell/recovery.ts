/** Rebuilds the state machine from the state database, in slices that leave the event loop free. */
import type { LoopClock } from '@orch/component';
import { Continuity } from '../core/continuity.js';
import type { StateMachine } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';
import type { StateDatabase, StoredMoment } from './state-database.js';

/** `machine` is new. Rejects with StoreError `Corrupt` when a record is damaged or missing. */
export async function restoreState(
  machine: StateMachine,
  database: StateDatabase,
  { facts, proposers }: StoredMoment,
  clock: LoopClock,
): Promise<void> {
  // Below it gaps are in order: what was superseded has been dropped.
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
      `revision ${continuity.brokenRevision} is not whole, a record of it or of what it supersedes is missing: restore this data directory from a backup or another replica`,
    );
  }
  machine.historyFloor = Math.min(oldestRevision, facts.revision);
  machine.restored(facts, proposers);
}
