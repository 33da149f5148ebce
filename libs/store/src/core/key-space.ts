/**
 * The index: live entries in key order per resource, the names of superseded versions for exact
 * reads, and the versions that compaction may drop. Invariants: a version is named for exactly as
 * long as an exact read at or above the compacted revision may need it; the sums cover exactly the
 * named versions.
 */
import { invariant, verify } from '@orch/component';
import { type OrderedMap, orderedMap } from '../ordered-map.js';
import type { StoredEntry } from './stored-entry.js';
import { type DroppedVersion, type VersionName, Versions } from './versions.js';

/** Returns `<group>/<resource>/` of a key; undefined if `key` is malformed. */
export function resourceOf(key: string): string | undefined {
  const second = key.indexOf('/', key.indexOf('/') + 1);
  return second > 0 && second < key.length - 1 ? key.slice(0, second + 1) : undefined;
}

export interface ResourceIndex {
  /** `<group>/<resource>/`. */
  readonly resource: string;
  readonly live: OrderedMap<string, StoredEntry>;
  /** Keys that have history, live or deleted. */
  readonly history: OrderedMap<string, Versions>;
  /** Revision of the newest change of a key of this resource. */
  newestRevision: number;
}

interface Superseded {
  /** The oldest version of `key` can be dropped when history up to this revision is compacted. */
  readonly atRevision: number;
  readonly key: string;
}

export class KeySpace {
  liveBytes = 0;
  /** Sum of the revisions of the live entries. */
  liveRevisions = 0;
  historyBytes = 0;
  private readonly live = new Map<string, StoredEntry>();
  private readonly indexes = new Map<string, ResourceIndex>();
  private readonly history = new Map<string, Versions>();
  private superseded: Superseded[] = [];
  private supersededHead = 0;

  get keyCount(): number {
    return this.live.size;
  }

  get(key: string): StoredEntry | undefined {
    return this.live.get(key);
  }

  /**
   * Returns the value of `key` at `revision`: the live entry, the name of a version, or nothing.
   */
  at(key: string, revision: number): StoredEntry | VersionName | undefined {
    const live = this.live.get(key);
    return live && live.revision <= revision ? live : this.history.get(key)?.at(revision);
  }

  versionsOf(key: string): Versions | undefined {
    return this.history.get(key);
  }

  /** Returns the resources whose keys can start with `prefix`, in key order. */
  resources(prefix: string): ResourceIndex[] {
    const resource = resourceOf(`${prefix}\u0000`);
    if (resource !== undefined) {
      const index = this.indexes.get(resource);
      return index ? [index] : [];
    }
    return [...this.indexes.values()]
      .filter((index) => index.resource.startsWith(prefix))
      .sort((left, right) => (left.resource < right.resource ? -1 : 1));
  }

  /** Whether a key with `prefix` can have changed after `revision`. */
  mayHaveChanged(prefix: string, revision: number): boolean {
    return this.resources(prefix).some(({ newestRevision }) => newestRevision > revision);
  }

  /** Makes `entry` the live version of its key. */
  put(entry: StoredEntry): void {
    invariant(entry.createRevision <= entry.revision, 'a version is older than its key');
    const previous = this.live.get(entry.key);
    if (previous) this.supersede(previous, entry.revision);
    this.live.set(entry.key, entry);
    const index = this.indexOf(entry.key);
    index.live.set(entry.key, entry);
    index.newestRevision = entry.revision;
    this.liveBytes += entry.bytes.length;
    this.liveRevisions += entry.revision;
  }

  /** Removes the live version of a key; `tombstone` has the deletion's revision and last bytes. */
  remove(tombstone: StoredEntry): void {
    const { key, revision } = tombstone;
    const previous = this.live.get(key);
    invariant(previous !== undefined, 'a key is deleted that does not exist', { key, revision });
    this.supersede(previous, revision);
    this.live.delete(key);
    const index = this.indexOf(key);
    invariant(index.live.delete(key), 'the ordered index lacks a live key', { key, revision });
    index.newestRevision = revision;
    this.appendHistory(tombstone, revision, true);
  }

  /** Adds a tombstone whose versions were dropped already, so that it is dropped as well. */
  orphan(tombstone: StoredEntry): void {
    invariant(!this.live.has(tombstone.key), 'a tombstone without versions has a live entry', {
      key: tombstone.key,
    });
    this.indexOf(tombstone.key).newestRevision = tombstone.revision;
    this.appendHistory(tombstone, tombstone.revision, true);
  }

  /** Drops at most `limit` versions that no read at or above `compactedRevision` needs. */
  sweep(compactedRevision: number, limit: number): DroppedVersion[] {
    const dropped: DroppedVersion[] = [];
    while (dropped.length < limit) {
      const next = this.superseded[this.supersededHead];
      if (!next || next.atRevision > compactedRevision) break;
      this.supersededHead += 1;
      const version = this.dropOldest(next.key);
      invariant(version.revision <= compactedRevision, 'a version is dropped that reads need', {
        key: next.key,
        revision: version.revision,
        compactedRevision,
      });
      dropped.push(version);
    }
    invariant(this.supersededHead <= this.superseded.length, 'more is dropped than superseded');
    if (this.supersededHead * 2 > this.superseded.length) {
      this.superseded = this.superseded.slice(this.supersededHead);
      this.supersededHead = 0;
    }
    verify(
      () => [...this.indexes.values()].every((index) => this.isIndexed(index)),
      'the ordered index differs from the live entries',
    );
    verify(() => this.hasRightSums(), 'the sums over the live entries are wrong');
    return dropped;
  }

  private supersede(previous: StoredEntry, atRevision: number): void {
    invariant(previous.revision < atRevision, 'a version is superseded by an older one');
    this.liveBytes -= previous.bytes.length;
    this.liveRevisions -= previous.revision;
    invariant(this.liveBytes >= 0, 'the live entries have fewer than no bytes');
    invariant(this.liveRevisions >= 0, 'the revisions of the live entries add up to less than 0');
    this.appendHistory(previous, atRevision, false);
  }

  private appendHistory(entry: StoredEntry, atRevision: number, tombstone: boolean): void {
    const newest = this.superseded[this.superseded.length - 1];
    invariant(newest === undefined || newest.atRevision <= atRevision, 'history is out of order');
    let versions = this.history.get(entry.key);
    if (!versions) {
      versions = new Versions();
      this.history.set(entry.key, versions);
      this.indexOf(entry.key).history.set(entry.key, versions);
    }
    versions.append(entry, entry.bytes.length, tombstone);
    this.historyBytes += entry.bytes.length;
    this.superseded.push({ atRevision, key: entry.key });
    invariant(!versions.isEmpty, 'a version with history has no versions', { key: entry.key });
  }

  private dropOldest(key: string): DroppedVersion {
    const versions = this.history.get(key);
    invariant(versions !== undefined, 'a version is dropped of a key without history', { key });
    const dropped = versions.dropOldest();
    this.historyBytes -= dropped.byteCount;
    invariant(this.historyBytes >= 0, 'the history has fewer than no bytes');
    if (versions.isEmpty) {
      this.history.delete(key);
      invariant(this.indexOf(key).history.delete(key), 'the ordered index lacks a history', {
        key,
      });
    }
    return dropped;
  }

  private indexOf(key: string): ResourceIndex {
    const resource = resourceOf(key);
    invariant(resource !== undefined, 'a malformed key is stored');
    let index = this.indexes.get(resource);
    if (!index) {
      index = { resource, live: orderedMap(), history: orderedMap(), newestRevision: 0 };
      this.indexes.set(resource, index);
    }
    return index;
  }

  private hasRightSums(): boolean {
    let bytes = 0;
    let revisions = 0;
    for (const entry of this.live.values()) {
      bytes += entry.bytes.length;
      revisions += entry.revision;
    }
    return bytes === this.liveBytes && revisions === this.liveRevisions;
  }

  /** Whether the index of a resource has exactly its live entries and histories, in key order. */
  private isIndexed({ resource, live, history }: ResourceIndex): boolean {
    const isOf = (key: string) => key.startsWith(resource);
    const keys = [...live.keys()];
    return (
      keys.every((key, at) => at === 0 || keys[at - 1]! < key) &&
      keys.every((key) => live.get(key) === this.live.get(key)) &&
      keys.length === [...this.live.keys()].filter(isOf).length &&
      history.size === [...this.history.keys()].filter(isOf).length
    );
  }
}
