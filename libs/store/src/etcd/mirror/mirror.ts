/**
 * The present state of this store in etcd, in memory, updated from the change stream. Invariants:
 * it shows exactly one revision at any time; it changes only by applying commits in order of
 * revision; each commit reaches the watches that are up to date in the same turn.
 */

import { invariant } from '@orch/component';
import { listSliceUnits } from '../../limits.js';
import { countBelow, type OrderedMap, orderedMap, prefixEnd } from '../../ordered-map.js';
import { type ListResult, noRevision, type Revision, StoreError } from '../../versioned-store.js';
import type { Watches } from '../../watching/watches.js';
import { type Commit, type EtcdWatchEvent, eventOf } from '../layout/changes.js';
import type { EtcdEntry } from '../layout/etcd-entry.js';
import type { ListedRange } from '../requests/etcd-reader.js';
import type { RecentCommits } from './recent-commits.js';

export class Mirror {
  revision = noRevision;
  valueBytes = 0;
  private entries: OrderedMap<string, EtcdEntry> = orderedMap();

  constructor(
    private readonly watches: Watches,
    private readonly recent: RecentCommits,
    private readonly nextTurn: () => Promise<void>,
  ) {}

  get keyCount(): number {
    return this.entries.size;
  }

  get(key: string): EtcdEntry | undefined {
    return this.entries.get(key);
  }

  /** Replaces the state by the one at `revision`. The caller ends all open watches. */
  reset(entries: readonly EtcdEntry[], revision: Revision): void {
    this.entries = orderedMap();
    this.valueBytes = 0;
    for (const entry of entries) {
      this.entries.set(entry.key, entry);
      this.valueBytes += entry.bytes.length;
    }
    this.revision = revision;
    this.watches.reset(revision);
    this.recent.reset(revision);
  }

  /**
   * Applies `commits`, which are everything up to `revision`, and delivers them to the watches.
   * Throws StoreError `Corrupt` if etcd contradicts them; the mirror must not be used after that.
   */
  apply(commits: readonly Commit[], revision: Revision): void {
    invariant(revision >= this.revision, 'a step of the change stream goes back', {
      from: this.revision,
      to: revision,
    });
    for (const commit of commits) {
      if (commit.changes.length === 0) continue;
      const events = commit.changes.map((change) => {
        const previous = this.entries.get(change.key);
        if ((previous !== undefined) !== change.existed) throw differs(change.key, commit.revision);
        const event = eventOf(change, previous, commit.revision);
        this.put(event);
        return event;
      });
      this.recent.append({ revision: commit.revision, events });
      this.watches.collect(events);
    }
    this.revision = revision;
    this.watches.flush(revision);
  }

  /** Lists a range of the present state, as of one revision however long it takes. */
  async list({ prefix, startAfter, limit }: ListedRange): Promise<ListResult> {
    const { revision } = this;
    const after = startAfter === undefined ? '' : `${startAfter}\u0000`;
    const low = after > prefix ? after : prefix;
    const end = prefixEnd(prefix);
    const size = this.entries.size;
    const map = size < listSliceUnits ? this.entries : this.entries.clone();
    const below = countBelow(map, low);
    const total = Math.max(0, (end === undefined ? size : countBelow(map, end)) - below);
    const count = Math.min(total, limit);
    const entries: EtcdEntry[] = [];
    if (count > 0) {
      for (const [, entry] of map.entries(low)) {
        entries.push(entry);
        if (entries.length >= count) break;
        if (entries.length % listSliceUnits === 0) await this.nextTurn();
      }
    }
    return { entries, revision, remainingCount: total - count };
  }

  private put({ kind, key, entry, previous }: EtcdWatchEvent): void {
    this.valueBytes -= previous?.bytes.length ?? 0;
    if (kind === 'delete') {
      this.entries.delete(key);
      return;
    }
    this.entries.set(key, entry);
    this.valueBytes += entry.bytes.length;
  }
}

function differs(key: string, revision: Revision): StoreError {
  return new StoreError(
    'Corrupt',
    `memory differs from etcd in ${key} at revision ${revision}: restart this server to load the state again`,
  );
}
