/** What is known of how far etcd has been compacted, by whomever: never beyond what memory shows. */
import { type Revision, StoreError } from '../versioned-store.js';
import type { EtcdReader } from './etcd-reader.js';
import type { Mirror } from './mirror.js';

export class CompactedRevision {
  #value = 0 as Revision;

  constructor(
    private readonly reader: EtcdReader,
    private readonly mirror: Mirror,
  ) {}

  get value(): Revision {
    return this.#value;
  }

  note(revision: Revision): void {
    const known = Math.min(revision, this.mirror.revision);
    this.#value = Math.max(this.#value, known) as Revision;
  }

  /** Throws StoreError `Compacted` when what comes after `revision` cannot be told any more. */
  check(revision: Revision): void {
    if (revision < this.#value) throw this.error(revision);
  }

  error(asked: Revision): StoreError {
    const message = `revision ${asked} has been compacted, history begins after ${this.#value}`;
    return new StoreError('Compacted', message, this.#value);
  }

  /** Asks etcd, which stands at `newest` or later. */
  async learn(newest: Revision, timeoutMs: number): Promise<void> {
    const found = await this.reader.compactedRevision(this.#value, newest, timeoutMs);
    this.#value = Math.max(this.#value, found) as Revision;
  }
}
