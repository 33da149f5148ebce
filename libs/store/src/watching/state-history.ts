/**
 * Past events of the replicated state: recent commits from the ring, earlier ones from the
 * database.
 */
import { invariant } from '@orch/component';
import { eventOf, type StoreEvent } from '../core/event-ring.js';
import type { VersionRecord } from '../core/record.js';
import type { StoredEntry } from '../core/stored-entry.js';
import type { LiveState } from '../state/live-state.js';
import { type Revision, StoreError } from '../versioned-store.js';
import type { HistoryStep, PastCommit, WatchHistory } from './watch-history.js';

export class StateHistory implements WatchHistory {
  constructor(private readonly live: LiveState) {}

  get oldestRevision(): Revision {
    return this.live.machine.oldestRevision;
  }

  get recentAfter(): Revision {
    return (this.live.machine.ring.firstRevision - 1) as Revision;
  }

  mayHaveChanged(prefix: string, revision: Revision): boolean {
    return this.live.machine.keys.mayHaveChanged(prefix, revision);
  }

  *recent(after: Revision, upTo: Revision): Generator<PastCommit> {
    const { ring } = this.live.machine;
    for (let next = after + 1; next <= upTo; next += 1) {
      const events = ring.commit(next);
      invariant(events !== undefined, 'the event ring lacks a recent revision', { next });
      yield { revision: next as Revision, events };
    }
  }

  async *stored(
    after: Revision,
    upTo: Revision,
    selects: (key: string) => boolean,
  ): AsyncGenerator<HistoryStep> {
    let last = after;
    let complete = after;
    let events: StoreEvent[] = [];
    for await (const records of this.live.database.scan(after, upTo)) {
      // The sweeper may have removed records that a compaction overtook.
      if (complete < this.oldestRevision) return;
      const commits: PastCommit[] = [];
      for (const record of records) {
        const { revision, key } = record.entry;
        if (revision !== last) {
          // The events of a revision are complete only when the next revision begins.
          if (revision !== last + 1) throw missingRecord(last + 1);
          if (events.length > 0) commits.push({ revision: last, events });
          events = [];
          complete = last;
          last = revision;
        }
        if (selects(key)) events.push(eventOf(record, this.previousOf(record)));
      }
      yield { commits, revision: complete };
    }
    if (complete < this.oldestRevision) return;
    if (last !== upTo) throw missingRecord(last + 1);
    yield { commits: [{ revision: last, events }], revision: last };
  }

  private previousOf({ entry, deleted }: VersionRecord): StoredEntry | undefined {
    const { key, revision, createRevision } = entry;
    const isCreation = createRevision === revision && !deleted;
    return isCreation ? undefined : this.live.reader.at(key, revision - 1);
  }
}

function missingRecord(revision: number): StoreError {
  return new StoreError(
    'Corrupt',
    `the record of revision ${revision} is missing: restore this data directory from a backup or another replica`,
  );
}
