/**
 * One watch from request to end: the state it begins with, the events after it, bookmarks between them.
 * Each event is sent as what it means to this watcher's selection: an object that no longer passes is
 * deleted for it, one that newly passes is added.
 */
import { resourceExpired, StatusError, serviceUnavailable } from '@orch/apimachinery';
import type { Clock, Timer } from '@orch/component';
import {
  type Entry,
  type Revision,
  StoreError,
  type WatchEvent,
  type WatchHandle,
} from '@orch/store';
import { listedValues } from '@orch/streaming';
import {
  bookmarkBeforeEndMs,
  bookmarkIntervalMs,
  selectorScanBatch,
  watchDurationMsMax,
  watchDurationMsMin,
  watchSocketBufferBytesMax,
  watchWriteBytesMax,
} from '../limits.js';
import { listObjects } from '../registry/list.js';
import type { RegistryParts } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
import type { Selection } from '../registry/selection.js';
import type { WatchRequest } from '../request/list-options.js';
import { contentTypeOf, type IncludeObject, type Representation } from '../request/media-types.js';
import { type Exchange, flushHead, headersFor, writeHead } from '../response/exchange.js';
import { openWebSocket, webSocketUpgrade } from '../server/web-socket.js';
import { EventEncoder, type EventType } from './event-encoder.js';
import {
  type EndReason,
  responseChannel,
  type WatchChannel,
  webSocketChannel,
} from './watch-channel.js';
import { WatchStream } from './watch-stream.js';

export interface WatchTarget {
  readonly served: ServedResource;
  readonly namespace: string;
  /** Only this object; empty for the collection. */
  readonly name: string;
  readonly selection: Selection;
  readonly request: WatchRequest;
  readonly representation: Representation;
  readonly include: IncludeObject;
}

/** Told of watches as they begin and end, for metrics and for the server's own end. */
export interface WatchObserver {
  began(watch: ActiveWatch): void;
  ended(watch: ActiveWatch, reason: EndReason): void;
  /** What is told of the events of all watches of a resource. */
  traffic(served: ServedResource): WatchTraffic;
}

/** Told of events, and called for each of them: must be quick. */
export interface WatchTraffic {
  /** A watch began with so many objects that were there. */
  began(eventCount: number): void;
  sent(byteCount: number): void;
}

export class ActiveWatch {
  private readonly stream: WatchStream;
  private readonly encoder: EventEncoder;
  private readonly timers: Timer[] = [];
  private readonly traffic: WatchTraffic;
  private handle: WatchHandle | undefined;

  constructor(
    private readonly parts: RegistryParts,
    exchange: Exchange,
    readonly target: WatchTarget,
    private readonly observer: WatchObserver,
  ) {
    const { served, representation, include } = target;
    const channel = openChannel(exchange, representation);
    exchange.goesOn = true;
    this.traffic = observer.traffic(served);
    this.stream = new WatchStream(channel, (reason) => this.finish(reason));
    this.encoder = new EventEncoder({
      served,
      representation,
      include,
      framing: channel.framing,
      nowMs: () => parts.clock.nowMs(),
    });
    observer.began(this);
  }

  /** Ends it as if its time were over: the client comes back with the last version it saw. */
  stop(): void {
    this.stream.end('stopped');
  }

  /** Sends the objects that are there, then follows from `revision`. */
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
      if (index % selectorScanBatch === selectorScanBatch - 1) {
        if (this.stream.queuedBytes > watchSocketBufferBytesMax) await this.stream.whenDrained();
        else await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await this.stream.whenDrained();
  }

  private follow(after: Revision): void {
    const { store } = this.parts;
    const { served, namespace, name, selection } = this.target;
    const { resource } = served;
    const scope = namespace !== '' ? namespace : (selection.namespace ?? '');
    const exact = name !== '' ? name : selection.name;
    const prefix =
      exact !== undefined && (scope !== '' || !served.definition.namespaced)
        ? resource.key(scope, exact)
        : resource.prefix(scope);
    // A version this replica has not reached yet: events up to it are not for this watch.
    const known = store.revision();
    try {
      this.handle = store.watch({
        prefix,
        afterRevision: after <= known ? after : known,
        onEvents: (events) => this.onEvents(events, after, name),
        // The past waits for a client that reads slowly; only what is new may overrun it.
        whenReady: () =>
          this.stream.queuedBytes > watchWriteBytesMax ? this.stream.whenDrained() : undefined,
        onEnd: (error) => this.fail(error),
      });
    } catch (error) {
      this.fail(error);
    }
  }

  private onEvents(events: readonly WatchEvent[], after: Revision, name: string): void {
    const { resource } = this.target.served;
    for (const event of events) {
      if (event.revision <= after) continue;
      if (name !== '' && resource.nameOfKey(event.key) !== name) continue;
      this.onEvent(event);
    }
  }

  private onEvent(event: WatchEvent): void {
    const { selection } = this.target;
    const { previous, entry } = event;
    let type: EventType;
    let shown = entry;
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
        shown = previous;
      } else return;
    }
    this.send(this.encoder.event(event, type, shown));
  }

  private send(bytes: Buffer): void {
    this.stream.push(bytes);
    this.traffic.sent(bytes.length);
  }

  private startTimers(): void {
    const { clock, random } = this.parts;
    const { timeoutSeconds, allowBookmarks } = this.target.request;
    const spreadMs = watchDurationMsMax - watchDurationMsMin;
    const durationMs =
      timeoutSeconds > 0 ? timeoutSeconds * 1_000 : watchDurationMsMin + random() * spreadMs;
    this.timers.push(clock.setTimer(durationMs, () => this.stream.end('timeout')));
    if (!allowBookmarks) return;
    const lastMs = durationMs - bookmarkBeforeEndMs;
    if (lastMs > 0) this.timers.push(clock.setTimer(lastMs, () => this.bookmark()));
    this.bookmarkEvery(clock);
  }

  private bookmarkEvery(clock: Clock): void {
    const slot = this.timers.length;
    const tick = () => {
      this.bookmark();
      if (!this.stream.isEnded) this.timers[slot] = clock.setTimer(bookmarkIntervalMs, tick);
    };
    this.timers.push(clock.setTimer(bookmarkIntervalMs, tick));
  }

  private bookmark(): void {
    if (!this.handle || this.stream.isEnded) return;
    const { resourceVersion = 0 } = this.target.request;
    const { revision } = this.handle;
    if (revision >= resourceVersion) this.send(this.encoder.bookmark(revision));
  }

  /** The store ended it, or cannot begin it: the client is told why as the last event. */
  private fail(error: unknown): void {
    const expired = error instanceof StoreError && error.code === 'Compacted';
    const status = expired
      ? resourceExpired('watch')
      : serviceUnavailable('the watch has ended, begin again from the last version seen', 1);
    if (!(error instanceof StoreError) && !(error instanceof StatusError)) throw error;
    this.stream.push(this.encoder.error(status.status));
    this.stream.end(expired ? 'expired' : 'stopped');
  }

  private finish(reason: EndReason): void {
    this.handle?.close();
    for (const timer of this.timers) timer.cancel();
    this.observer.ended(this, reason);
  }
}

/** Sends the head of the answer. Throws 400, with nothing sent, for a bad request for a WebSocket. */
function openChannel(exchange: Exchange, { format }: Representation): WatchChannel {
  const upgrade = webSocketUpgrade(exchange);
  if (upgrade) {
    // What is spoken is told by the format: the name that a browser wants confirmed says nothing.
    const [protocol = ''] = listedValues(exchange.request.headers['sec-websocket-protocol']);
    const webSocket = openWebSocket(exchange, upgrade, protocol);
    return webSocketChannel(webSocket, upgrade.socket, format === 'protobuf');
  }
  const stream = format === 'protobuf' ? ';stream=watch' : '';
  writeHead(exchange, 200, headersFor(exchange, contentTypeOf(format) + stream));
  flushHead(exchange);
  return responseChannel(exchange);
}

/** The state a watch begins with and the version its events follow. Throws before anything is sent. */
export async function watchStart(
  parts: RegistryParts,
  target: WatchTarget,
  deadlineMs: number,
): Promise<{ initial: readonly Entry[]; revision: Revision }> {
  const { served, namespace, name, selection, request } = target;
  const { resourceVersion } = request;
  if (resourceVersion !== undefined && resourceVersion !== 0) {
    if (resourceVersion < parts.store.status().compactedRevision) throw resourceExpired('watch');
    return { initial: [], revision: resourceVersion };
  }
  const list = {
    labelSelector: '',
    fieldSelector: '',
    consistency: { kind: resourceVersion === 0 ? ('any' as const) : ('quorum' as const) },
    limit: 0,
    continueFrom: undefined,
    timeoutSeconds: 0,
  };
  const outcome = await listObjects(parts, served, namespace, list, selection, deadlineMs);
  const { resource } = served;
  const initial =
    name === ''
      ? outcome.entries
      : outcome.entries.filter((entry) => resource.nameOfKey(entry.key) === name);
  return { initial, revision: outcome.revision };
}
