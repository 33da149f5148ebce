/**
 * Watches that are up to date, found by the segments of their prefix: an event costs only the
 * watches that select it. Invariant: a watch in the hub has been handed everything up to the hub's
 * revision, and a commit is never split over two calls.
 */
import type {
  Revision,
  StoreError,
  WatchEvent,
  WatchHandle,
  WatchOptions,
} from '../versioned-store.js';

/** One open watch. `sentRevision` counts only until it is live; then the hub's revision holds. */
export class Watch implements WatchHandle {
  closed = false;
  sentRevision: Revision;
  /** Events of the slice being applied. */
  readonly pending: WatchEvent[] = [];
  /** The hub it is live in. */
  hub: WatchHub | undefined;

  constructor(
    readonly options: WatchOptions,
    private readonly onClose: (watch: Watch) => void,
  ) {
    this.sentRevision = options.afterRevision;
  }

  get revision(): Revision {
    return this.hub ? this.hub.revision : this.sentRevision;
  }

  selects(key: string): boolean {
    const { prefix } = this.options;
    if (!key.startsWith(prefix)) return false;
    return (
      key.length === prefix.length ||
      prefix === '' ||
      prefix.endsWith('/') ||
      key.charCodeAt(prefix.length) === SLASH
    );
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.sentRevision = this.revision;
    this.hub?.leave(this);
    this.onClose(this);
  }

  /** Ends it from the store's side. */
  end(error: StoreError): void {
    if (this.closed) return;
    this.close();
    this.options.onEnd(error);
  }
}

const SLASH = 0x2f;

export class WatchHub {
  revision = 0 as Revision;
  readonly #groups = new Map<string, Set<Watch>>();
  readonly #touched: Watch[] = [];

  /** `watch` must have been handed everything up to `revision`. */
  join(watch: Watch): void {
    if (watch.sentRevision !== this.revision) {
      throw new Error('invariant broken: a watch joins the hub without being up to date');
    }
    const group = groupOf(watch.options.prefix);
    let watches = this.#groups.get(group);
    if (!watches) {
      watches = new Set();
      this.#groups.set(group, watches);
    }
    watches.add(watch);
    watch.hub = this;
  }

  leave(watch: Watch): void {
    const group = groupOf(watch.options.prefix);
    const watches = this.#groups.get(group);
    watches?.delete(watch);
    if (watches?.size === 0) this.#groups.delete(group);
    watch.hub = undefined;
    watch.pending.length = 0;
  }

  /** Everybody in it, no longer in it. Each was handed everything up to `revision`. */
  leaveAll(): Watch[] {
    const all = [...this.#groups.values()].flatMap((watches) => [...watches]);
    for (const watch of all) {
      watch.sentRevision = this.revision;
      this.leave(watch);
    }
    return all;
  }

  /** Notes one commit's events for the watches that select them; `flush` hands them over. */
  collect(events: readonly WatchEvent[]): void {
    if (this.#groups.size === 0) return;
    for (const event of events) {
      const { key } = event;
      this.#collectFor('', event);
      for (let at = key.indexOf('/', 1); at >= 0; at = key.indexOf('/', at + 1)) {
        this.#collectFor(key.slice(0, at), event);
      }
      this.#collectFor(key, event);
    }
  }

  /** Everything up to `revision` was collected. A callback that throws ends its own watch only. */
  flush(revision: Revision, onCallbackError: (watch: Watch, error: unknown) => void): void {
    this.revision = revision;
    const touched = this.#touched.splice(0);
    for (const watch of touched) {
      const events = watch.pending.splice(0);
      if (watch.closed || events.length === 0) continue;
      try {
        watch.options.onEvents(events, revision);
      } catch (error) {
        onCallbackError(watch, error);
      }
    }
  }

  #collectFor(group: string, event: WatchEvent): void {
    const watches = this.#groups.get(group);
    if (!watches) return;
    for (const watch of watches) {
      if (!watch.selects(event.key)) continue;
      if (watch.pending.length === 0) this.#touched.push(watch);
      watch.pending.push(event);
    }
  }
}

/** The last segment boundary at or before the end of the prefix: where its watch is filed. */
function groupOf(prefix: string): string {
  return prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
}
