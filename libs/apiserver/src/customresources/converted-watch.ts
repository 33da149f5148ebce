/**
 * A watch of the store whose events show entries in another version. Events come in order and a commit is
 * never split: what has to wait for a conversion holds up what comes after it. The revision that the
 * watch tells is that of what has been handed on.
 */
import { StatusError } from '@orch/apimachinery';
import {
  type Entry,
  type Revision,
  StoreError,
  type VersionedStore,
  type WatchEvent,
  type WatchHandle,
  type WatchOptions,
} from '@orch/store';
import { watchQueueEventsMax } from '../limits.js';
import type { Shown } from './version-reader.js';

export class ConvertedWatch implements WatchHandle {
  /** Undefined while the store may hand on the past before it answers. */
  private readonly inner: WatchHandle | undefined;
  private waiting: Promise<void> | undefined;
  private waitingEvents = 0;
  private delivered: Revision;
  private closed = false;

  constructor(
    store: VersionedStore,
    private readonly options: WatchOptions,
    private readonly show: (entries: readonly Entry[]) => Shown,
  ) {
    this.delivered = options.afterRevision;
    this.inner = store.watch({
      ...options,
      onEvents: (events, revision) => this.take(events, revision),
      onEnd: (error) => this.end(error),
    });
    if (this.closed) this.inner.close();
  }

  get revision(): Revision {
    return this.waiting || !this.inner ? this.delivered : this.inner.revision;
  }

  close(): void {
    this.closed = true;
    this.inner?.close();
  }

  private take(events: readonly WatchEvent[], revision: Revision): void {
    const shown = this.waiting ? undefined : this.show(entriesOf(events));
    if (shown && !(shown instanceof Promise)) this.deliver(events, shown, revision);
    else this.queue(events, revision, shown);
  }

  private queue(
    events: readonly WatchEvent[],
    revision: Revision,
    started: Promise<readonly Entry[]> | undefined,
  ): void {
    this.waitingEvents += events.length;
    if (this.waitingEvents > watchQueueEventsMax) {
      // What was begun is nobody's any more.
      void started?.catch(() => undefined);
      this.end(new StoreError('Overloaded', 'conversions do not keep up with the changes'));
      return;
    }
    const before = this.waiting ?? Promise.resolve();
    const turn = before.then(async () => {
      if (this.closed) return;
      const shown = await (started ?? this.show(entriesOf(events)));
      this.waitingEvents -= events.length;
      this.deliver(events, shown, revision);
      if (this.waitingEvents === 0) this.waiting = undefined;
    });
    this.waiting = turn.catch((error: unknown) => this.fail(error));
  }

  private deliver(
    events: readonly WatchEvent[],
    shown: readonly Entry[],
    revision: Revision,
  ): void {
    if (this.closed) return;
    this.delivered = revision;
    this.options.onEvents(eventsShowing(events, shown), revision);
  }

  private fail(error: unknown): void {
    if (!(error instanceof StatusError) && !(error instanceof StoreError)) throw error;
    this.end(new StoreError('Unavailable', `the conversion of an event failed: ${error.message}`));
  }

  private end(error: StoreError): void {
    if (this.closed) return;
    this.close();
    this.options.onEnd(error);
  }
}

function entriesOf(events: readonly WatchEvent[]): Entry[] {
  return events.flatMap(({ previous, entry }) => (previous ? [previous, entry] : [entry]));
}

/** The very events where all their entries are shown as they are: what is kept on them is shared. */
function eventsShowing(
  events: readonly WatchEvent[],
  shown: readonly Entry[],
): readonly WatchEvent[] {
  let next = 0;
  return events.map((event) => {
    const previous = event.previous && shown[next++];
    const entry = shown[next++]!;
    if (previous === event.previous && entry === event.entry) return event;
    return { ...event, previous, entry, derived: undefined };
  });
}
