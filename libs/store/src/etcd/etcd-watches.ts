/**
 * Every open watch: up to date in the hub, or on its way there. Invariant: each gets every event once, in
 * order, until it is ended.
 */
import type { Logger } from '@orch/component';
import { Watch, type WatchHub } from '../core/watch-hub.js';
import { WATCHES_MAX } from '../limits.js';
import {
  type Revision,
  StoreError,
  type WatchHandle,
  type WatchOptions,
} from '../versioned-store.js';
import type { CompactedRevision } from './compacted-revision.js';
import { future } from './read-positions.js';
import type { WatchCatchUp } from './watch-catch-up.js';

export class EtcdWatches {
  readonly #open = new Set<Watch>();

  constructor(
    private readonly hub: WatchHub,
    private readonly catchUp: WatchCatchUp,
    private readonly compacted: CompactedRevision,
    private readonly logger: Logger,
    private readonly onCorrupt: (error: StoreError) => void,
  ) {}

  /** Throws StoreError `Compacted`, `FutureRevision` or `Overloaded`. */
  open(options: WatchOptions, revision: Revision): WatchHandle {
    const { afterRevision } = options;
    if (afterRevision > revision) throw future(afterRevision, revision);
    this.compacted.check(afterRevision);
    if (this.#open.size >= WATCHES_MAX) {
      throw new StoreError('Overloaded', `${this.#open.size} watches are open`);
    }
    const watch = new Watch(options, (closed) => {
      this.#open.delete(closed);
      this.catchUp.remove(closed);
    });
    this.#open.add(watch);
    if (afterRevision === this.hub.revision) this.hub.join(watch);
    else this.catchUp.add(watch);
    return watch;
  }

  endAll(error: StoreError): void {
    for (const watch of [...this.#open]) watch.end(error);
  }

  /** Ends a watch that could not be told something. */
  failed(watch: Watch, error: unknown): void {
    if (error instanceof StoreError) {
      if (error.code === 'Corrupt') this.onCorrupt(error);
      if (error.code === 'Compacted' && error.revision !== undefined) {
        this.compacted.note(error.revision);
      }
      watch.end(error);
      return;
    }
    this.logger.error({ error, prefix: watch.options.prefix }, 'watch failed');
    watch.end(new StoreError('Unavailable', 'the watch failed'));
  }
}
