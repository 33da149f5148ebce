/** The compacted revision of etcd, as far as recorded: never ahead of the mirror. */
import { compactedError } from '../../revision-errors.js';
import { maxRevision, noRevision, type Revision, type StoreError } from '../../versioned-store.js';
import type { EtcdReader } from '../requests/etcd-reader.js';
import type { Mirror } from './mirror.js';

export class CompactedRevision {
  private current = noRevision;

  constructor(
    private readonly reader: EtcdReader,
    private readonly mirror: Mirror,
  ) {}

  get value(): Revision {
    return this.current;
  }

  note(revision: Revision): void {
    const shown = this.mirror.revision;
    this.current = maxRevision(this.current, revision < shown ? revision : shown);
  }

  /** Throws StoreError `Compacted` if changes after `revision` may be gone. */
  check(revision: Revision): void {
    if (revision < this.current) throw this.error(revision);
  }

  error(requested: Revision): StoreError {
    return compactedError(requested, this.current);
  }

  /** Reads it from etcd, which has reached `newest`. */
  async learn(newest: Revision, timeoutMs: number): Promise<void> {
    const found = await this.reader.compactedRevision(this.current, newest, timeoutMs);
    this.current = maxRevision(this.current, found);
  }
}
