/**
 * The index: live entries in key order per resource, beside them the names of superseded versions
 * for exact reads, and what compaction may drop. Invariants: a version is named for exactly as long
 * as an exact read at or above the compacted revision may need it; the sums are over what is named.
 */
import { type OrderedMap, orderedMap } from './ordered-map.js';
import type { StoredEntry } from './stored-entry.js';
import { type DroppedVersion, type VersionName, Versions } from './versions.js';

/** `<group>/<resource>/` of a key; undefined for what is not a key. */
export function resourceOf(key: string): string | undefined {
  const second = key.indexOf('/', key.indexOf('/') + 1);
  return second > 0 && second < key.length - 1 ? key.slice(0, second + 1) : undefined;
}

export interface ResourceIndex {
  /** `<group>/<resource>/`. */
  readonly resource: string;
  readonly live: OrderedMap<string, StoredEntry>;
  /** Keys that have history, dead or alive. */
  readonly history: OrderedMap<string, Versions>;
}

interface Superseded {
  /** The oldest version of `key` may go once history up to this revision is compacted. */
  readonly atRevision: number;
  readonly key: string;
}

export class KeySpace {
  liveBytes = 0;
  /** Sum of the revisions of the live entries. */
  liveRevisions = 0;
  historyBytes = 0;
  readonly #live = new Map<string, StoredEntry>();
  readonly #resources = new Map<string, ResourceIndex>();
  readonly #history = new Map<string, Versions>();
  #superseded: Superseded[] = [];
  #supersededHead = 0;

  get keyCount(): number {
    return this.#live.size;
  }

  get(key: string): StoredEntry | undefined {
    return this.#live.get(key);
  }

  /** Where the value of `key` at `revision` is: the live entry, a name, or nowhere. */
  at(key: string, revision: number): StoredEntry | VersionName | undefined {
    const live = this.#live.get(key);
    return live && live.revision <= revision ? live : this.#history.get(key)?.at(revision);
  }

  versionsOf(key: string): Versions | undefined {
    return this.#history.get(key);
  }

  /** Resources whose keys can start with `prefix`, in key order. */
  resources(prefix: string): ResourceIndex[] {
    const resource = resourceOf(`${prefix}\u0000`);
    if (resource !== undefined) {
      const index = this.#resources.get(resource);
      return index ? [index] : [];
    }
    return [...this.#resources.values()]
      .filter((index) => index.resource.startsWith(prefix))
      .sort((left, right) => (left.resource < right.resource ? -1 : 1));
  }

  /** Makes `entry` the live version of its key. */
  put(entry: StoredEntry): void {
    const previous = this.#live.get(entry.key);
    if (previous) this.#supersede(previous, entry.revision);
    this.#live.set(entry.key, entry);
    this.#resource(entry.key).live.set(entry.key, entry);
    this.liveBytes += entry.bytes.length;
    this.liveRevisions += entry.revision;
  }

  /** Removes the live version of a key; `tombstone` carries the deletion's revision and last bytes. */
  remove(tombstone: StoredEntry): void {
    const { key, revision } = tombstone;
    const previous = this.#live.get(key);
    if (!previous) throw new Error(`invariant broken: deletion of ${key}, which does not exist`);
    this.#supersede(previous, revision);
    this.#live.delete(key);
    this.#resource(key).live.delete(key);
    this.#appendHistory(tombstone, revision, true);
  }

  /** Takes over a tombstone whose versions were dropped already: only its own drop is left to do. */
  orphan(tombstone: StoredEntry): void {
    this.#appendHistory(tombstone, tombstone.revision, true);
  }

  /** Drops at most `limit` versions that nothing at or above `compactedRevision` needs. */
  sweep(compactedRevision: number, limit: number): DroppedVersion[] {
    const dropped: DroppedVersion[] = [];
    while (dropped.length < limit) {
      const next = this.#superseded[this.#supersededHead];
      if (!next || next.atRevision > compactedRevision) break;
      this.#supersededHead += 1;
      dropped.push(this.#dropOldest(next.key));
    }
    if (this.#supersededHead * 2 > this.#superseded.length) {
      this.#superseded = this.#superseded.slice(this.#supersededHead);
      this.#supersededHead = 0;
    }
    return dropped;
  }

  #supersede(previous: StoredEntry, atRevision: number): void {
    this.liveBytes -= previous.bytes.length;
    this.liveRevisions -= previous.revision;
    this.#appendHistory(previous, atRevision, false);
  }

  #appendHistory(entry: StoredEntry, atRevision: number, tombstone: boolean): void {
    let versions = this.#history.get(entry.key);
    if (!versions) {
      versions = new Versions();
      this.#history.set(entry.key, versions);
      this.#resource(entry.key).history.set(entry.key, versions);
    }
    versions.append(entry, entry.bytes.length, tombstone);
    this.historyBytes += entry.bytes.length;
    this.#superseded.push({ atRevision, key: entry.key });
  }

  #dropOldest(key: string): DroppedVersion {
    const versions = this.#history.get(key);
    if (!versions) throw new Error(`invariant broken: ${key} has no history to drop`);
    const dropped = versions.dropOldest();
    this.historyBytes -= dropped.byteCount;
    if (versions.isEmpty) {
      this.#history.delete(key);
      this.#resource(key).history.delete(key);
    }
    return dropped;
  }

  #resource(key: string): ResourceIndex {
    const resource = resourceOf(key);
    if (resource === undefined) throw new Error(`invariant broken: ${key} is not a key`);
    let index = this.#resources.get(resource);
    if (!index) {
      index = { resource, live: orderedMap(), history: orderedMap() };
      this.#resources.set(resource, index);
    }
    return index;
  }
}
