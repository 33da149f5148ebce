/**
 * Every open watch: up to date in the hub, or on its way there. Invariant: each gets every event once,
 * in order, also when the state is replaced under it, or it is ended.
 */
import type { Logger, LoopClock } from '@orch/component';
import type { StoreEvent } from '../core/event-ring.js';
import { Watch, WatchHub } from '../core/watch-hub.js';
import { WATCHES_MAX } from '../limits.js';
import {
  type Revision,
  StoreError,
  type WatchHandle,
  type WatchOptions,
} from '../versioned-store.js';
import { CatchUp, compacted } from './catch-up.js';
import type { LiveState } from './live-state.js';

export class Watches {
  readonly #hub = new WatchHub();
  readonly #catchUp: CatchUp;
  readonly #open = new Set<Watch>();
  #stopped = false;

  constructor(
    clock: LoopClock,
    private readonly logger: Logger,
    private readonly onCorrupt: (error: StoreError) => void,
  ) {
    this.#catchUp = new CatchUp(this.#hub, clock, (watch, error) => this.#failed(watch, error));
  }

  /** Throws StoreError `Compacted`, `FutureRevision` or `Overloaded`. */
  open(options: WatchOptions, { machine }: LiveState): WatchHandle {
    const { revision, oldestRevision } = machine;
    const { afterRevision } = options;
    if (afterRevision > revision) throw future(afterRevision, revision);
    if (afterRevision < oldestRevision) throw compacted(afterRevision, oldestRevision);
    if (this.#open.size >= WATCHES_MAX) {
      throw new StoreError('Overloaded', `${this.#open.size} watches are open`);
    }
    const watch = new Watch(options, (closed) => {
      this.#open.delete(closed);
      this.#catchUp.remove(closed);
    });
    this.#open.add(watch);
    if (afterRevision === this.#hub.revision) this.#hub.join(watch);
    else this.#catchUp.add(watch);
    return watch;
  }

  /** Notes one commit's events; `flush` hands them over. */
  collect(events: readonly StoreEvent[]): void {
    this.#hub.collect(events);
  }

  flush(revision: Revision): void {
    this.#hub.flush(revision, (watch, error) => this.#failed(watch, error));
  }

  /** The past can no longer be read; `resume` follows. */
  pause(): void {
    this.#catchUp.use(undefined);
  }

  /** Everybody goes on in this state, which is at least as new as the one before. */
  resume(live: LiveState): void {
    const behind = this.#hub.leaveAll();
    this.#hub.revision = live.machine.revision;
    for (const watch of behind) this.#catchUp.add(watch);
    this.#catchUp.use(live);
  }

  stop(error: StoreError): void {
    this.#stopped = true;
    this.#catchUp.use(undefined);
    for (const watch of [...this.#open]) watch.end(error);
  }

  #failed(watch: Watch, error: unknown): void {
    if (error instanceof StoreError && error.code === 'Corrupt') this.onCorrupt(error);
    else if (!this.#stopped) {
      this.logger.error({ error, prefix: watch.options.prefix }, 'watch failed');
    }
    watch.end(
      error instanceof StoreError ? error : new StoreError('Unavailable', 'the watch failed'),
    );
  }
}

export function future(asked: Revision, known: Revision): StoreError {
  return new StoreError('FutureRevision', `revision ${asked} is ahead of ${known}`, known);
}
