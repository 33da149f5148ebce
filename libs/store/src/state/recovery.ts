/**
 * Restores the state machine and its event ring from the state database, in slices that yield to
 * the event loop.
 */
import type { LoopClock } from '@orch/component';
import { Continuity } from '../core/continuity.js';
import { type EventRing, eventOf, type StoreEvent } from '../core/event-ring.js';
import type { VersionRecord } from '../core/record.js';
import type { StateMachine } from '../core/state-machine.js';
import type { StoredEntry } from '../core/stored-entry.js';
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
  const commits = new RestoredCommits(machine.ring);
  for await (const records of database.scan(0, facts.revision)) {
    for (const record of records) {
      const previous = machine.keys.get(record.entry.key);
      continuity.take(record, previous);
      commits.take(record, previous, continuity.brokenRevision);
      machine.restore(record);
    }
    commits.persisted();
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

/**
 * Fills the event ring with the newest commits of the database, so that watches that resume after a
 * restart do not each read them from the disk. A commit with a gap empties the ring.
 */
class RestoredCommits {
  private events: StoreEvent[] = [];
  private revision = 0;

  constructor(private readonly ring: EventRing) {}

  /** `brokenRevision`: see `Continuity`. */
  take(record: VersionRecord, previous: StoredEntry | undefined, brokenRevision: number): void {
    const { revision, position } = record.entry;
    if (position === 0) this.events = [];
    this.events.push(eventOf(record, previous));
    if (!record.last) return;
    const isBroken = brokenRevision === revision;
    if (isBroken) this.ring.reset(revision);
    else if (revision !== this.revision + 1) this.ring.reset(revision - 1);
    if (!isBroken) this.ring.append(revision, this.events);
    this.revision = revision;
  }

  /** All commits taken so far are in the database. */
  persisted(): void {
    if (this.revision > 0) this.ring.persisted(this.revision);
  }
}
