/** Rebuilds the state machine from the state database, in slices that leave the event loop free. */
import type { StateMachine } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';
import type { StateDatabase } from './state-database.js';
import { nextTurn } from './turns.js';

/** Rejects with StoreError `Corrupt` when a record is damaged or missing. */
export async function restoreState(machine: StateMachine, database: StateDatabase): Promise<void> {
  const facts = await database.readFacts();
  if (!facts) return;
  let last = 0;
  for await (const records of database.scan(0, facts.revision)) {
    for (const record of records) {
      const { revision } = record.entry;
      // Below the compacted revision gaps are in order: what was superseded has been dropped.
      if (revision > last + 1) mustBeCompacted(revision - 1, facts.compactedRevision);
      last = revision;
      machine.restore(record);
    }
    await nextTurn();
  }
  if (last < facts.revision) mustBeCompacted(facts.revision, facts.compactedRevision);
  machine.restored(facts, await database.readProposers());
}

function mustBeCompacted(missingRevision: number, compactedRevision: number): void {
  if (missingRevision <= compactedRevision) return;
  throw new StoreError(
    'Corrupt',
    `the record of revision ${missingRevision} is missing: restore this data directory from a backup or another replica`,
  );
}
