/**
 * Finds out which records of a state are missing: every revision has its positions from 0 on without a
 * hole, and its last record says that it is the last.
 */
import type { VersionRecord } from './record.js';

export class Continuity {
  #revision = 0;
  #position = -1;
  #ended = true;
  #missingRevision = 0;

  /** The newest revision of which something was missing so far; 0: nothing was. */
  get missingRevision(): number {
    return this.#missingRevision;
  }

  /** Takes the next record, in the order of the database. */
  take({ entry: { revision, position }, last }: VersionRecord): void {
    const isNext = revision !== this.#revision;
    const isBegun = position === (isNext ? 0 : this.#position + 1);
    if (isNext) this.#reach(revision - 1);
    if (!isBegun) this.#missingRevision = revision;
    this.#revision = revision;
    this.#position = position;
    this.#ended = last;
  }

  /** Nothing follows: there should have been everything up to `revision`. */
  end(revision: number): void {
    this.#reach(revision);
  }

  #reach(revision: number): void {
    if (!this.#ended) this.#missingRevision = this.#revision;
    if (this.#revision < revision) this.#missingRevision = revision;
  }
}
