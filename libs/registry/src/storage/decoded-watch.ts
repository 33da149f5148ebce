/**
 * A watch of the store whose events carry decoded entries. Events keep their order and a commit is
 * never split: an event that waits for a conversion holds back the events after it. `revision` is
 * that of the last delivered event while others wait.
 */
import { StatusError } from '@orch/apimachinery';
import {
  type Entry,
  type Revision,
  StoreError,
  type StoreReader,
  type WatchEvent,
  type WatchHandle,
  type WatchOptions,
} from '@orch/store';
import { watchQueueEventsMax } from '../limits.js';
import type { DecodedEntries } from './entry-codec.js';

/**
 * Decoded events by the stored ones. Watches that share it deliver the same decoded event, with all
 * that is derived from it, such as its encoded line.
 */
export interface SharedEvents {
  get(stored: WatchEvent): WatchEvent | undefined;
  set(stored: WatchEvent, decoded: WatchEvent): unknown;
}

export class DecodedWatch implements WatchHandle {
  /** Undefined while `store.watch` delivers past events before it returns. */
  private readonly inner: WatchHandle | undefined;
  private waiting: Promise<void> | undefined;
  private waitingEvents = 0;
  private delivered: Revision;
  private closed = false;

  constructor(
    store: Pick<StoreReader, 'watch'>,
    private readonly options: WatchOptions,
    private readonly decode: (entries: readonly Entry[]) => DecodedEntries,
    private readonly shared?: SharedEvents,
  ) {
    this.delivered = options.afterRevision;
    // An index reads decoded entries.
    const { selects: _, ...stored } = options;
    this.inner = store.watch({
      ...stored,
      onEvents: (events, revision) => this.receive(events, revision),
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

  private receive(events: readonly WatchEvent[], revision: Revision): void {
    const entries = entriesOf(events);
    const decoded = this.waiting ? undefined : this.decode(entries);
    if (decoded === entries) this.forward(events, revision);
    else if (decoded && !(decoded instanceof Promise)) this.deliver(events, decoded, revision);
    else this.queue(events, revision, decoded);
  }

  private queue(
    events: readonly WatchEvent[],
    revision: Revision,
    started: Promise<readonly Entry[]> | undefined,
  ): void {
    this.waitingEvents += events.length;
    if (this.waitingEvents > watchQueueEventsMax) {
      // The result of the conversion that has started is not used.
      void started?.catch(() => undefined);
      this.end(new StoreError('Overloaded', 'conversions do not keep up with the changes'));
      return;
    }
    const before = this.waiting ?? Promise.resolve();
    const delivery = before.then(async () => {
      if (this.closed) return;
      const decoded = await (started ?? this.decode(entriesOf(events)));
      this.waitingEvents -= events.length;
      this.deliver(events, decoded, revision);
      if (this.waitingEvents === 0) this.waiting = undefined;
    });
    this.waiting = delivery.catch((error: unknown) => this.fail(error));
  }

  private deliver(
    events: readonly WatchEvent[],
    decoded: readonly Entry[],
    revision: Revision,
  ): void {
    this.forward(this.eventsWith(events, decoded), revision);
  }

  /**
   * The same event objects where decoding changed no entry, so that values cached on them stay
   * shared.
   */
  private eventsWith(
    events: readonly WatchEvent[],
    decoded: readonly Entry[],
  ): readonly WatchEvent[] {
    let next = 0;
    return events.map((event) => {
      const previous = event.previous && decoded[next++];
      const entry = decoded[next++]!;
      if (previous === event.previous && entry === event.entry) return event;
      const existing = this.shared?.get(event);
      if (existing?.entry === entry && existing.previous === previous) return existing;
      const created = { ...event, previous, entry, derived: undefined };
      this.shared?.set(event, created);
      return created;
    });
  }

  private forward(events: readonly WatchEvent[], revision: Revision): void {
    if (this.closed) return;
    this.delivered = revision;
    this.options.onEvents(events, revision);
  }

  private fail(error: unknown): void {
    if (error instanceof StoreError) this.end(error);
    else if (error instanceof StatusError) this.end(conversionFailed(error));
    else throw error;
  }

  private end(error: StoreError): void {
    if (this.closed) return;
    this.close();
    this.options.onEnd(error);
  }
}

function conversionFailed({ message }: StatusError): StoreError {
  return new StoreError('Unavailable', `the conversion of an event failed: ${message}`);
}

function entriesOf(events: readonly WatchEvent[]): Entry[] {
  const entries: Entry[] = [];
  for (const { previous, entry } of events) {
    if (previous) entries.push(previous);
    entries.push(entry);
  }
  return entries;
}
