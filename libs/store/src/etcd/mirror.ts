/**
 * The present state in memory: what etcd holds of this store, kept up to date by the stream of changes.
 * Invariants: it shows exactly one revision at any moment; it changes only by applying commits in the
 * order of their revisions; each commit reaches the watches that are up to date in the same turn.
 */
import { countBelow, type OrderedMap, orderedMap, prefixEnd } from '../core/ordered-map.js';
import type { Watch, WatchHub } from '../core/watch-hub.js';
import { LIST_SLICE_UNITS } from '../limits.js';
import type { ListResult, Revision } from '../versioned-store.js';
import { type Commit, type EtcdWatchEvent, eventOf } from './changes.js';
import type { EtcdEntry } from './etcd-entry.js';
import type { ListedRange } from './etcd-reader.js';
import type { RecentCommits } from './recent-commits.js';

export class Mirror {
  revision = 0 as Revision;
  valueBytes = 0;
  #entries: OrderedMap<string, EtcdEntry> = orderedMap();

  constructor(
    private readonly hub: WatchHub,
    private readonly recent: RecentCommits,
    private readonly nextTurn: () => Promise<void>,
  ) {}

  get keyCount(): number {
    return this.#entries.size;
  }

  get(key: string): EtcdEntry | undefined {
    return this.#entries.get(key);
  }

  /** Starts over with the state at `revision`. Watches that are open must have been ended. */
  reset(entries: readonly EtcdEntry[], revision: Revision): void {
    this.#entries = orderedMap();
    this.valueBytes = 0;
    for (const entry of entries) {
      this.#entries.set(entry.key, entry);
      this.valueBytes += entry.bytes.length;
    }
    this.revision = revision;
    this.hub.revision = revision;
    this.recent.reset(revision);
  }

  /** Everything up to `revision`. A watch whose callback throws is handed to `onCallbackError`. */
  apply(
    commits: readonly Commit[],
    revision: Revision,
    onCallbackError: (watch: Watch, error: unknown) => void,
  ): void {
    for (const commit of commits) {
      if (commit.changes.length === 0) continue;
      const events = commit.changes.map((change) => {
        const previous = this.#entries.get(change.key);
        if ((previous !== undefined) !== change.existed) {
          throw new Error(
            `invariant broken: at ${commit.revision} etcd ${change.existed ? 'had' : 'had not'} ${change.key} before`,
          );
        }
        const event = eventOf(change, previous, commit.revision);
        this.#put(event);
        return event;
      });
      this.recent.append({ revision: commit.revision, events });
      this.hub.collect(events);
    }
    this.revision = revision;
    this.hub.flush(revision, onCallbackError);
  }

  /** The present state of a range, as of one moment however long it takes. */
  async list({ prefix, startAfter, limit }: ListedRange): Promise<ListResult> {
    const { revision } = this;
    const after = startAfter === undefined ? '' : `${startAfter}\u0000`;
    const low = after > prefix ? after : prefix;
    const end = prefixEnd(prefix);
    const size = this.#entries.size;
    const map = size < LIST_SLICE_UNITS ? this.#entries : this.#entries.clone();
    const below = countBelow(map, low);
    const total = Math.max(0, (end === undefined ? size : countBelow(map, end)) - below);
    const count = Math.min(total, limit);
    const entries: EtcdEntry[] = [];
    if (count > 0) {
      for (const [, entry] of map.entries(low)) {
        entries.push(entry);
        if (entries.length >= count) break;
        if (entries.length % LIST_SLICE_UNITS === 0) await this.nextTurn();
      }
    }
    return { entries, revision, remainingCount: total - count };
  }

  #put({ kind, key, entry, previous }: EtcdWatchEvent): void {
    this.valueBytes -= previous?.bytes.length ?? 0;
    if (kind === 'delete') {
      this.#entries.delete(key);
      return;
    }
    this.#entries.set(key, entry);
    this.valueBytes += entry.bytes.length;
  }
}
