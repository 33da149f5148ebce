/** Rebuilds the state machine from the state database, in slices that leave the event loop free. */
import type { LoopClock } from '@orch/component';
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
  let last = 0;
  for await (const records of database.scan(0, facts.revision)) {
    for (const record of records) {
      const { revision } = record.entry;
      if (revision > last + 1) mustBeGone(revision - 1, oldestRevision);
      last = revision;
      machine.restore(record);
    }
    await clock.nextTurn();
  }
  if (last < facts.revision) mustBeGone(facts.revision, oldestRevision);
  machine.historyFloor = Math.min(oldestRevision, facts.revision);
  machine.restored(facts, proposers);
}

function mustBeGone(missingRevision: number, oldestRevision: number): void {
  if (missingRevision <= oldestRevision) return;
  throw new StoreError(
    'Corrupt',
    `the record of revision ${missingRevision} is missing: restore this data directory from a backup or another replica`,
  );
}
