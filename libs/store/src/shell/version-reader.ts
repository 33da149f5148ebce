/** Finds the value of a key at a revision: live, among the recent events, or in the state database. */
import type { StateMachine } from '../core/state-machine.js';
import { StoredEntry } from '../core/stored-entry.js';
import type { VersionName } from '../core/versions.js';
import type { StateDatabase } from './state-database.js';

export class VersionReader {
  constructor(
    private readonly machine: StateMachine,
    private readonly database: StateDatabase,
  ) {}

  /** `revision` must not be below the compacted revision. Throws StoreError `Corrupt`. */
  at(key: string, revision: number): StoredEntry | undefined {
    const found = this.machine.keys.at(key, revision);
    return found === undefined || found instanceof StoredEntry ? found : this.resolve(found);
  }

  resolve(name: VersionName): StoredEntry {
    return this.recent(name) ?? this.database.read(name).entry;
  }

  /** In memory, or undefined when it has to be read from disk. */
  recent(name: VersionName): StoredEntry | undefined {
    return this.machine.ring.commit(name.revision)?.[name.position]?.entry;
  }
}
