/**
 * All open watches: up to date in the hub, or catching up. Invariant: each watch gets every event
 * once, in order, also when the state is replaced, until it is closed or ended.
 */
import type { Logger, LoopClock } from '@orch/component';
import { Watch, WatchHub } from '../core/watch-hub.js';
import { watchesMax } from '../limits.js';
import { compactedError, futureRevisionError } from '../revision-errors.js';
import {
  type Revision,
  StoreError,
  type WatchEvent,
  type WatchHandle,
  type WatchOptions,
} from '../versioned-store.js';
import { WatchCatchUp } from './watch-catch-up.js';
import type { WatchHistory } from './watch-history.js';

export interface WatchesDependencies {
  readonly clock: LoopClock;
  readonly logger: Logger;
  /** A damaged record was read. */
  readonly onCorrupt: (error: StoreError) => void;
  /** History below the revision turned out to be gone. */
  readonly onCompacted?: (revision: Revision) => void;
}

/** The revisions that a watch can start after. */
export interface WatchableRange {
  readonly revision: Revision;
  readonly oldestRevision: Revision;
}

export class Watches {
  private readonly hub = new WatchHub();
  private readonly catchUp: WatchCatchUp;
  private readonly openWatches = new Set<Watch>();

  constructor(private readonly dependencies: WatchesDependencies) {
    const { clock } = dependencies;
    this.catchUp = new WatchCatchUp(this.hub, clock, (watch, error) => this.fail(watch, error));
  }

  /** Throws StoreError `Compacted`, `FutureRevision` or `Overloaded`. */
  open(options: WatchOptions, { revision, oldestRevision }: WatchableRange): WatchHandle {
    const { afterRevision } = options;
    if (afterRevision > revision) throw futureRevisionError(afterRevision, revision);
    if (afterRevision < oldestRevision) throw compactedError(afterRevision, oldestRevision);
    if (this.openWatches.size >= watchesMax) {
      throw new StoreError(
        'Overloaded',
        `${this.openWatches.size} watches are open, the limit is ${watchesMax}: close some or use another server`,
      );
    }
    const watch = new Watch(options, (closed) => {
      this.openWatches.delete(closed);
      this.catchUp.remove(closed);
    });
    this.openWatches.add(watch);
    if (afterRevision === this.hub.revision) this.hub.join(watch);
    else this.catchUp.add(watch);
    return watch;
  }

  /** Queues the events of one commit; `flush` delivers them. */
  collect(events: readonly WatchEvent[]): void {
    this.hub.collect(events);
  }

  flush(revision: Revision): void {
    this.hub.flush(revision, (watch, error) => this.fail(watch, error));
  }

  /** The history can no longer be read; `resume` follows. */
  pause(): void {
    this.catchUp.use(undefined);
  }

  /** All watches continue in this state, which is at least as new as the one before. */
  resume(history: WatchHistory, revision: Revision): void {
    const behind = this.hub.leaveAll();
    this.hub.revision = revision;
    for (const watch of behind) this.catchUp.add(watch);
    this.catchUp.use(history);
  }

  /** The state was replaced by one at `revision` with a gap before it. `endAll` must follow. */
  reset(revision: Revision): void {
    this.hub.revision = revision;
  }

  endAll(error: StoreError): void {
    for (const watch of [...this.openWatches]) watch.end(error);
  }

  stop(error: StoreError): void {
    this.catchUp.use(undefined);
    this.endAll(error);
  }

  private fail(watch: Watch, error: unknown): void {
    const { logger, onCorrupt, onCompacted } = this.dependencies;
    const isStoreError = error instanceof StoreError;
    if (isStoreError && error.code === 'Corrupt') onCorrupt(error);
    if (watch.closed) return;
    const { prefix } = watch.options;
    if (!isStoreError) logger.error({ error, prefix }, 'watch failed');
    else if (error.code !== 'Compacted') logger.warn({ error, prefix }, 'watch failed');
    else if (error.revision !== undefined) onCompacted?.(error.revision);
    watch.end(isStoreError ? error : new StoreError('Unavailable', 'the watch failed'));
  }
}
