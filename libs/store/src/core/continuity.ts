/**
 * Finds out which records of a state are missing: every revision has its positions from 0 on without a
 * hole, its last record says that it is the last, and every record finds the version that it supersedes.
 */
import type { VersionRecord } from './record.js';

export class Continuity {
  #revision = 0;
  #position = -1;
  #ended = true;
  #brokenRevision = 0;

  /** The newest revision that lacked a record, or a version that it supersedes, so far; 0: none did. */
  get brokenRevision(): number {
    return this.#brokenRevision;
  }

  /**
   * Takes the next record, in the order of the database. `live` is the version of its key that the records
   * before it have left.
   */
  take({ entry, last, previousRevision }: VersionRecord, live?: { revision: number }): void {
    const { revision, position } = entry;
    const isNext = revision !== this.#revision;
    const isBegun = position === (isNext ? 0 : this.#position + 1);
    if (isNext) this.#reach(revision - 1);
    if (!isBegun || previousRevision !== (live?.revision ?? 0)) this.#brokenRevision = revision;
    this.#revision = revision;
    this.#position = position;
    this.#ended = last;
  }

  /** Nothing follows: there should have been everything up to `revision`. */
  end(revision: number): void {
    this.#reach(revision);
  }

  #reach(revision: number): void {
    if (!this.#ended) this.#brokenRevision = this.#revision;
    if (this.#revision < revision) this.#brokenRevision = revision;
  }
}
