/**
 * Detects missing records while a state is restored: the positions of every revision start at 0 and
 * have no gap, its last record is marked as the last, and every record supersedes the version that
 * the records before it left.
 */
import { invariant } from '@orch/component';
import type { VersionRecord } from './record.js';

export class Continuity {
  private revision = 0;
  private position = -1;
  private ended = true;
  private newestBroken = 0;

  /** Newest revision so far that lacks a record, or supersedes a lost version; 0 if none does. */
  get brokenRevision(): number {
    return this.newestBroken;
  }

  /**
   * Checks the next record in database order. `live` is the version of its key that the records
   * before it have left.
   */
  take({ entry, last, previousRevision }: VersionRecord, live?: { revision: number }): void {
    const { revision, position } = entry;
    const isNextRevision = revision !== this.revision;
    invariant(
      isNextRevision ? revision > this.revision : position > this.position,
      'restored records are out of order',
      { revision, position, afterRevision: this.revision, afterPosition: this.position },
    );
    invariant((live?.revision ?? 0) < revision, 'a live version is newer than its next record', {
      revision,
      live: live?.revision,
    });
    const isExpected = position === (isNextRevision ? 0 : this.position + 1);
    if (isNextRevision) this.reach(revision - 1);
    if (!isExpected || previousRevision !== (live?.revision ?? 0)) this.newestBroken = revision;
    this.revision = revision;
    this.position = position;
    this.ended = last;
  }

  /** Checks that the records taken reach `revision`. */
  end(revision: number): void {
    invariant(this.revision <= revision, 'a restored record is newer than its state', {
      record: this.revision,
      state: revision,
    });
    this.reach(revision);
  }

  private reach(revision: number): void {
    if (!this.ended) this.newestBroken = this.revision;
    if (this.revision < revision) this.newestBroken = revision;
    invariant(
      this.newestBroken <= Math.max(revision, this.revision),
      'a broken revision is newer than the records',
      { broken: this.newestBroken, revision },
    );
  }
}
