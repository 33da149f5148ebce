/**
 * Source of past events for watches that start behind the present, in commits that are never split.
 */
import type { Revision, WatchEvent } from '../versioned-store.js';

export interface PastCommit {
  readonly revision: Revision;
  readonly events: readonly WatchEvent[];
}

export interface HistoryStep {
  /**
   * In revision order. Each has its events in order; commits without selected events may be
   * missing.
   */
  readonly commits: readonly PastCommit[];
  /** This step and those before it hold every event up to this revision. */
  readonly revision: Revision;
}

export interface WatchHistory {
  /** A watch below it has missed events for good. */
  readonly oldestRevision: Revision;
  /** `recent` has every commit after this revision. */
  readonly recentAfter: Revision;
  /** False: no key with `prefix` changed after `revision`. True also if that is not known. */
  mayHaveChanged(prefix: string, revision: Revision): boolean;
  /**
   * Commits from memory with `after` < revision <= `upTo`. `after` must be `recentAfter` or later.
   */
  recent(after: Revision, upTo: Revision): Iterable<PastCommit>;
  /**
   * Commits from the durable history with `after` < revision <= `upTo`, at least the events whose
   * key `selects` accepts. Ends early, without an error, when a compaction overtakes it. Throws
   * StoreError.
   */
  stored(
    after: Revision,
    upTo: Revision,
    selects: (key: string) => boolean,
  ): AsyncIterable<HistoryStep>;
}
