/**
 * The watches that are up to date, grouped by their prefix and in a group by the value that they
 * select, so that an event costs only the watches that select it. Watches that select the same
 * events get one list of them, so that an event for thousands of watches allocates nothing for each
 * of them. Invariants: a watch in the hub has been sent every event up to the hub's revision; the
 * events of a commit are never split over two calls.
 */
import { invariant, verify } from '@orch/component';
import type {
  Revision,
  StoreError,
  WatchEvent,
  WatchHandle,
  WatchOptions,
} from '../versioned-store.js';
import { type WatchCell, WatchGroup } from './watch-group.js';

/** One open watch. While it is in the hub, the hub's revision replaces `sentRevision`. */
export class Watch implements WatchHandle {
  closed = false;
  sentRevision: Revision;
  /** The hub that it is in. */
  hub: WatchHub | undefined;
  /** That of the options: thousands of watches are called in one turn of the event loop. */
  readonly onEvents: WatchOptions['onEvents'];

  constructor(
    readonly options: WatchOptions,
    private readonly onClose: (watch: Watch) => void,
  ) {
    this.sentRevision = options.afterRevision;
    this.onEvents = options.onEvents;
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
      key.charCodeAt(prefix.length) === slash
    );
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    const { revision } = this;
    invariant(revision >= this.sentRevision, 'the revision of a watch goes back', {
      from: this.sentRevision,
      to: revision,
    });
    this.sentRevision = revision;
    this.hub?.leave(this);
    this.onClose(this);
  }

  /** Ends the watch on behalf of the store. */
  end(error: StoreError): void {
    if (this.closed) return;
    this.close();
    this.options.onEnd(error);
  }
}

const slash = 0x2f;

export class WatchHub {
  revision = 0 as Revision;
  private readonly groups = new Map<string, WatchGroup<Watch>>();
  /** The cells with events that wait for the flush. */
  private touched: WatchCell<Watch>[] = [];

  /** `watch` must have been sent every event up to `revision`. */
  join(watch: Watch): void {
    invariant(watch.sentRevision === this.revision, 'a watch joins the hub and is not up to date', {
      sent: watch.sentRevision,
      revision: this.revision,
    });
    invariant(!watch.closed, 'a closed watch joins the hub');
    invariant(watch.hub === undefined, 'a watch joins the hub twice');
    const { prefix } = watch.options;
    let group = this.groups.get(prefix);
    if (!group) {
      group = new WatchGroup<Watch>();
      this.groups.set(prefix, group);
    }
    group.add(watch);
    watch.hub = this;
  }

  leave(watch: Watch): void {
    const { prefix } = watch.options;
    const group = this.groups.get(prefix);
    invariant(watch.hub === this, 'a watch leaves a hub that it is not in');
    invariant(group?.remove(watch) === true, 'the hub lacks a watch that is in it');
    if (group.watchCount === 0) this.groups.delete(prefix);
    watch.hub = undefined;
  }

  /** Removes and returns all watches. Each was sent every event up to `revision`. */
  leaveAll(): Watch[] {
    const all = [...this.groups.values()].flatMap((watches) => watches.all());
    for (const watch of all) {
      watch.sentRevision = this.revision;
      this.leave(watch);
    }
    invariant(this.groups.size === 0, 'the hub has watches after all have left');
    return all;
  }

  /** Queues the events of one commit for the watches that select them; `flush` delivers them. */
  collect(events: readonly WatchEvent[]): void {
    if (this.groups.size === 0 || events.length === 0) return;
    invariant(events[0]!.revision > this.revision, 'events are collected that were flushed');
    verify(
      () => events.every(({ revision }) => revision === events[0]!.revision),
      'the events of one commit have several revisions',
    );
    for (const event of events) {
      for (const group of this.groupsOf(event.key)) {
        group?.forEachCandidate(event, (cell) => {
          if (cell.add(event)) this.touched.push(cell);
        });
      }
    }
  }

  /** The groups by each prefix of the key that a watch can have; undefined: no watch has it. */
  private groupsOf(key: string): (WatchGroup<Watch> | undefined)[] {
    const { groups } = this;
    const found = [groups.get('')];
    for (let at = key.indexOf('/', 1); at >= 0; at = key.indexOf('/', at + 1)) {
      found.push(groups.get(key.slice(0, at)), groups.get(key.slice(0, at + 1)));
    }
    if (!key.endsWith('/')) found.push(groups.get(key));
    return found;
  }

  /**
   * Delivers the collected events, which are all up to `revision`. A callback that throws ends its
   * own watch only.
   */
  flush(revision: Revision, onCallbackError: (watch: Watch, error: unknown) => void): void {
    invariant(revision >= this.revision, 'the revision of the hub goes back', {
      from: this.revision,
      to: revision,
    });
    this.revision = revision;
    const { touched } = this;
    this.touched = [];
    for (const cell of touched) {
      const events = cell.take();
      const [first, newest] = [events[0]!.revision, events[events.length - 1]!.revision];
      invariant(newest <= revision, 'an event is delivered before its revision');
      verify(() => isOrdered(events), 'events are delivered out of order');
      for (const watch of cell.watches) {
        // A watch that a callback opens during the flush has these events already.
        if (watch.sentRevision >= first) continue;
        try {
          watch.onEvents(events, revision);
        } catch (error) {
          onCallbackError(watch, error);
        }
      }
    }
  }
}

/** Whether the revisions of `events` never decrease. */
function isOrdered(events: readonly WatchEvent[]): boolean {
  return events.every(({ revision }, at) => at === 0 || events[at - 1]!.revision <= revision);
}
