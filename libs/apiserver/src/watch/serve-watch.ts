/**
 * One watch from request to end: the initial state, the events after it, bookmarks between them.
 * Each event is sent as seen through the selection of the watch: an object that no longer matches
 * is deleted, one that newly matches is added.
 */
import { resourceExpired, StatusError, serviceUnavailable } from '@orch/apimachinery';
import type { Clock, Logger, Timer } from '@orch/component';
import {
  type ResourceStore,
  type Selection,
  type ServedResource,
  selectorScanBatch,
  type WatchRequest,
} from '@orch/registry';
import {
  type Entry,
  type Revision,
  StoreError,
  type StoreReader,
  type WatchEvent,
  type WatchHandle,
} from '@orch/store';
import { listedValues } from '@orch/streaming';
import type { RequestContext } from '../http/request-context.js';
import { flushHead, headersFor, writeHead } from '../http/respond.js';
import { openWebSocket, webSocketUpgrade } from '../http/web-socket.js';
import {
  bookmarkBeforeEndMs,
  watchDurationMsMax,
  watchDurationMsMin,
  watchPendingEventsMax,
  watchWriteBytesMax,
} from '../limits.js';
import { contentTypeOf, type Representation } from '../request/accept.js';
import type { IncludeObject } from '../request/representation.js';
import { type Bookmarked, BookmarkRounds } from './bookmark-rounds.js';
import { EventEncoder, type EventType } from './event-encoder.js';
import { joinedEvents } from './joined-events.js';
import {
  type EndReason,
  responseChannel,
  type WatchChannel,
  webSocketChannel,
} from './watch-channel.js';
import { WatchStream } from './watch-stream.js';

export interface WatchTarget {
  readonly store: ResourceStore;
  readonly namespace: string;
  /** Only this object; empty for the collection. */
  readonly name: string;
  readonly selection: Selection;
  readonly request: WatchRequest;
  readonly representation: Representation;
  readonly include: IncludeObject;
}

/** Notified of watches that start and end, for metrics and shutdown. */
export interface WatchObserver {
  began(watch: ActiveWatch): void;
  ended(watch: ActiveWatch, reason: EndReason): void;
  /** The recorder of the events of all watches of a resource. */
  traffic(served: ServedResource): WatchTraffic;
}

/** Called synchronously for every event. */
export interface WatchTraffic {
  /** A watch started with so many existing objects. */
  began(eventCount: number): void;
  sent(byteCount: number): void;
}

export interface WatchDependencies {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly revisions: Pick<StoreReader, 'revision' | 'compactedRevision'>;
  readonly observer: WatchObserver;
  readonly bookmarks: BookmarkRounds;
  readonly logger: Logger;
}

const none: readonly WatchEvent[] = [];

export class ActiveWatch implements Bookmarked {
  private readonly stream: WatchStream;
  private readonly encoder: EventEncoder;
  private readonly timers: Timer[] = [];
  private readonly traffic: WatchTraffic;
  private handle: WatchHandle | undefined;
  /**
   * Events that are encoded in the time slice of their write, because many watches get them; a list
   * that these watches share.
   */
  private pending: readonly WatchEvent[] = none;

  constructor(
    private readonly dependencies: WatchDependencies,
    context: RequestContext,
    readonly target: WatchTarget,
  ) {
    const { representation, include } = target;
    const { served } = target.store;
    const { clock, observer } = dependencies;
    const channel = openChannel(context, representation);
    context.streaming = true;
    this.traffic = observer.traffic(served);
    this.stream = new WatchStream(
      channel,
      (reason) => this.finish(reason),
      () => this.encodePending(),
    );
    this.encoder = new EventEncoder({
      served,
      representation,
      include,
      framing: channel.framing,
      nowMs: () => clock.nowMs(),
      bookmarks: dependencies.bookmarks,
    });
    observer.began(this);
  }

  /** Ends the watch as at its time limit: the client resumes from the last version it saw. */
  stop(): void {
    this.stream.end('stopped');
  }

  /** Sends the existing objects, then the events after `revision`. */
  async run(initial: readonly Entry[], revision: Revision): Promise<void> {
    this.startTimers();
    await this.sendInitial(initial);
    if (!this.stream.isEnded) this.follow(revision);
  }

  private async sendInitial(entries: readonly Entry[]): Promise<void> {
    this.traffic.began(entries.length);
    for (const [index, entry] of entries.entries()) {
      if (this.stream.isEnded) return;
      this.send(this.encoder.initial(entry));
      // No other watch shares these bytes, so only one write of them is in memory.
      if (this.stream.queuedBytes > watchWriteBytesMax) await this.stream.whenDrained();
      else if (index % selectorScanBatch === selectorScanBatch - 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await this.stream.whenDrained();
  }

  private follow(after: Revision): void {
    const { store, namespace, name, selection } = this.target;
    const { served } = store;
    const { resource } = served;
    const scope = namespace !== '' ? namespace : (selection.namespace ?? '');
    const exact = name !== '' ? name : selection.name;
    const prefix =
      exact !== undefined && (scope !== '' || !served.definition.namespaced)
        ? resource.key(scope, exact)
        : resource.prefix(scope);
    // This replica may not have reached `after` yet: events up to it are skipped.
    const known = this.dependencies.revisions.revision();
    const selects = selection.watchIndex();
    try {
      this.handle = store.watch({
        prefix,
        ...(selects && { selects }),
        afterRevision: after <= known ? after : known,
        onEvents: (events) => this.onEvents(events, after, name),
        // Past events wait for a slow client; only new events may overflow its queue.
        whenReady: () => {
          this.encodePending();
          return this.stream.queuedBytes > watchWriteBytesMax
            ? this.stream.whenDrained()
            : undefined;
        },
        onEnd: (error) => this.fail(error),
      });
    } catch (error) {
      this.fail(error);
    }
  }

  /** Called for thousands of watches in one turn of the event loop. */
  private onEvents(events: readonly WatchEvent[], after: Revision, name: string): void {
    const isWhole = name === '' && events[0]!.revision > after;
    const selected = isWhole ? events : this.selected(events, after, name);
    this.pending = joinedEvents(this.pending, selected);
    // A slow client is noticed by its queue of encoded events.
    if (this.pending.length > watchPendingEventsMax) this.encodePending();
    else if (this.pending.length > 0) this.stream.wake();
  }

  private selected(events: readonly WatchEvent[], after: Revision, name: string): WatchEvent[] {
    const { resource } = this.target.store.served;
    return events.filter(
      ({ revision, key }) => revision > after && (name === '' || resource.nameOfKey(key) === name),
    );
  }

  private encodePending(): void {
    if (this.pending.length === 0) return;
    const events = this.pending;
    this.pending = none;
    try {
      for (const event of events) this.onEvent(event);
    } catch (error) {
      const { name, namespace, store } = this.target;
      const { plural } = store.served.definition;
      this.dependencies.logger.error({ error, plural, namespace, name }, 'watch failed');
      this.endWith(serviceUnavailable('the watch has failed', 1), 'stopped');
    }
  }

  private onEvent(event: WatchEvent): void {
    const { selection } = this.target;
    const { previous, entry } = event;
    let type: EventType;
    let converted = entry;
    if (event.kind === 'delete') {
      if (!selection.matches(previous ?? entry)) return;
      type = 'DELETED';
    } else if (selection.everything) {
      type = previous ? 'MODIFIED' : 'ADDED';
    } else {
      const before = previous !== undefined && selection.matches(previous);
      if (selection.matches(entry)) type = before ? 'MODIFIED' : 'ADDED';
      else if (before) {
        type = 'DELETED';
        converted = previous;
      } else return;
    }
    this.send(this.encoder.event(event, type, converted));
  }

  private send(bytes: Buffer): void {
    this.stream.push(bytes);
    this.traffic.sent(bytes.length);
  }

  private startTimers(): void {
    const { clock, random } = this.dependencies;
    const { timeoutSeconds, allowBookmarks } = this.target.request;
    const spreadMs = watchDurationMsMax - watchDurationMsMin;
    const durationMs =
      timeoutSeconds > 0 ? timeoutSeconds * 1_000 : watchDurationMsMin + random() * spreadMs;
    this.timers.push(clock.setTimer(durationMs, () => this.stream.end('timeout')));
    if (!allowBookmarks) return;
    const lastMs = durationMs - bookmarkBeforeEndMs;
    if (lastMs > 0) this.timers.push(clock.setTimer(lastMs, () => this.bookmark()));
    this.dependencies.bookmarks.add(this);
  }

  /** Sends the revision up to which the client has every event. */
  bookmark(): void {
    if (!this.handle || this.stream.isEnded) return;
    this.encodePending();
    const { resourceVersion = 0 } = this.target.request;
    const { revision } = this.handle;
    if (revision >= resourceVersion) this.send(this.encoder.bookmark(revision));
  }

  /** The store ended the watch, or cannot start it: the last event carries the reason. */
  private fail(error: unknown): void {
    const expired = error instanceof StoreError && error.code === 'Compacted';
    const status = expired
      ? resourceExpired('watch')
      : serviceUnavailable('the watch has ended, start again from the last version seen', 1);
    if (!(error instanceof StoreError) && !(error instanceof StatusError)) throw error;
    this.encodePending();
    this.endWith(status, expired ? 'expired' : 'stopped');
  }

  private endWith(status: StatusError, reason: EndReason): void {
    this.stream.push(this.encoder.error(status.status));
    this.stream.end(reason);
  }

  private finish(reason: EndReason): void {
    this.handle?.close();
    this.pending = none;
    for (const timer of this.timers) timer.cancel();
    this.dependencies.bookmarks.remove(this);
    this.dependencies.observer.ended(this, reason);
  }
}

/**
 * Sends the head of the response. Throws 400, with nothing sent, for an invalid WebSocket
 * handshake.
 */
function openChannel(context: RequestContext, { format }: Representation): WatchChannel {
  const upgrade = webSocketUpgrade(context);
  if (upgrade) {
    // The format decides the framing. The protocol is echoed only because browsers require it.
    const [protocol = ''] = listedValues(context.request.headers['sec-websocket-protocol']);
    const webSocket = openWebSocket(context, upgrade, protocol);
    return webSocketChannel(webSocket, upgrade.socket, format === 'protobuf');
  }
  const stream = format === 'protobuf' ? ';stream=watch' : '';
  writeHead(context, 200, headersFor(context, contentTypeOf(format) + stream));
  flushHead(context);
  return responseChannel(context);
}

/**
 * The initial state of a watch and the revision that its events follow. Throws before anything is
 * sent.
 */
export async function watchStart(
  revisions: WatchDependencies['revisions'],
  target: WatchTarget,
  deadlineMs: number,
): Promise<{ initial: readonly Entry[]; revision: Revision }> {
  const { store, namespace, name, selection, request } = target;
  const { resourceVersion } = request;
  if (resourceVersion !== undefined && resourceVersion !== 0) {
    if (resourceVersion < revisions.compactedRevision()) throw resourceExpired('watch');
    return { initial: [], revision: resourceVersion };
  }
  const everything = {
    labelSelector: '',
    fieldSelector: '',
    consistency: { kind: resourceVersion === 0 ? ('any' as const) : ('quorum' as const) },
    limit: 0,
    continueFrom: undefined,
    timeoutSeconds: 0,
  };
  const list = await store.list({ namespace, request: everything, selection, deadlineMs });
  const { resource } = store.served;
  const initial =
    name === ''
      ? list.entries
      : list.entries.filter((entry) => resource.nameOfKey(entry.key) === name);
  return { initial, revision: list.revision };
}
