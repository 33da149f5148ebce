/**
 * Reads the value of a key at a revision: from the live entries, recent events or state database.
 */
import type { StateMachine } from '../core/state-machine.js';
import { StoredEntry } from '../core/stored-entry.js';
import type { VersionName } from '../core/versions.js';
import { StoreError } from '../versioned-store.js';
import type { StateDatabase } from './state-database.js';

export class VersionReader {
  private retired = false;

  constructor(
    private readonly machine: StateMachine,
    private readonly database: StateDatabase,
  ) {}

  /**
   * `revision` must not be below the compacted revision. Throws StoreError `Corrupt` or
   * `Unavailable`.
   */
  at(key: string, revision: number): StoredEntry | undefined {
    const found = this.machine.keys.at(key, revision);
    return found === undefined || found instanceof StoredEntry ? found : this.resolve(found);
  }

  resolve(name: VersionName): StoredEntry {
    const recent = this.recent(name);
    if (recent) return recent;
    if (!this.retired) return this.database.read(name).entry;
    throw new StoreError(
      'Unavailable',
      'the state is being replaced by a newer one: retry the read',
    );
  }

  /** Returns the version from memory; undefined if only the disk has it. */
  recent(name: VersionName): StoredEntry | undefined {
    return this.machine.ring.commit(name.revision)?.[name.position]?.entry;
  }

  /** The database is about to close: versions that are not in memory can no longer be read. */
  retire(): void {
    this.retired = true;
  }
}
