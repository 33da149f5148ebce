/** Finds the value of a key at a revision: live, among the recent events, or in the state database. */
import type { StateMachine } from '../core/state-machine.js';
import { StoredEntry } from '../core/stored-entry.js';
import type { VersionName } from '../core/versions.js';
import { StoreError } from '../versioned-store.js';
import type { StateDatabase } from './state-database.js';

export class VersionReader {
  #retired = false;

  constructor(
    private readonly machine: StateMachine,
    private readonly database: StateDatabase,
  ) {}

  /** `revision` must not be below the compacted revision. Throws StoreError `Corrupt` or `Unavailable`. */
  at(key: string, revision: number): StoredEntry | undefined {
    const found = this.machine.keys.at(key, revision);
    return found === undefined || found instanceof StoredEntry ? found : this.resolve(found);
  }

  resolve(name: VersionName): StoredEntry {
    const recent = this.recent(name);
    if (recent) return recent;
    if (!this.#retired) return this.database.read(name).entry;
    throw new StoreError('Unavailable', 'the state is being replaced by a newer one: read again');
  }

  /** In memory, or undefined when it has to be read from disk. */
  recent(name: VersionName): StoredEntry | undefined {
    return this.machine.ring.commit(name.revision)?.[name.position]?.entry;
  }

  /** The database is about to be closed: what is not in memory can no longer be read. */
  retire(): void {
    this.#retired = true;
  }
}
