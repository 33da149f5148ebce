/**
 * Keeps this replica connected to one peer and sends it what it is given. What is reason within one turn of
 * the event loop goes in one frame. A connection that breaks takes with it what waited: that is told as
 * unreachable, and consensus says again what still matters.
 */
import { Backoff, type Logger, type LoopClock, type Timer } from '@orch/component';
import type { Member, Message } from '../core/types.js';
import { Exchange } from './exchange.js';
import type { FrameNetwork } from './frame-network.js';
import {
  CONNECT_PATIENCE_MS,
  RECONNECT_MAX_MS,
  RECONNECT_MIN_MS,
  UNSENT_BYTES_MAX,
} from './limits.js';
import { MessageQueue } from './message-queue.js';
import type { Greeting, TransportHandlers } from './transport.js';
import { errorText } from './transport-error.js';
import type { TransportObserver } from './transport-observer.js';

export interface LinkParts {
  readonly greeting: () => Greeting;
  readonly network: Pick<FrameNetwork, 'open'>;
  readonly clock: LoopClock;
  /** Uniform in [0, 1): spreads reconnects. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer: TransportObserver;
  readonly handlers: Pick<TransportHandlers, 'onAnswer' | 'onUnreachable' | 'onRoundTrip'>;
  readonly received: (from: Member, messages: readonly Message[], byteCount: number) => void;
}

export class PeerLink {
  readonly #queue = new MessageQueue();
  readonly #backoff: Backoff;
  #call: Exchange | undefined;
  #reconnect: Timer | undefined;
  #triedAtMs = 0;
  #flushPlanned = false;
  #stopped = false;
  /** Logged once, until it changes. */
  #lastReason: string | undefined;

  constructor(
    readonly peer: Member,
    private readonly parts: LinkParts,
  ) {
    this.#backoff = new Backoff({
      initialMs: RECONNECT_MIN_MS,
      maxMs: RECONNECT_MAX_MS,
      factor: 2,
      jitter: 0.5,
      random: parts.random,
    });
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#call?.isOpen ?? false;
  }

  send(message: Message, byteCount: number): void {
    if (this.#stopped) return;
    const droppedCount = this.#queue.push(message, byteCount);
    if (droppedCount > 0) this.#dropped(droppedCount);
    this.#planFlush();
  }

  /** The peer has just connected to us, so it is there: do not wait any longer, nor for a try that hangs. */
  hint(): void {
    const call = this.#call;
    const ageMs = this.parts.clock.monotonicMs() - this.#triedAtMs;
    if (call && !call.isOpen && ageMs > CONNECT_PATIENCE_MS) call.close('begun anew');
    if (!this.#reconnect) return;
    this.#reconnect.cancel();
    this.#reconnect = undefined;
    this.#backoff.reset();
    this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    this.#reconnect?.cancel();
    this.#reconnect = undefined;
    this.#queue.clear();
    this.#call?.close('no longer wanted');
  }

  #connect(): void {
    const { parts, peer } = this;
    this.#triedAtMs = parts.clock.monotonicMs();
    let call: Exchange;
    try {
      call = new Exchange({
        ...parts,
        peer: peer.id,
        peerUrl: peer.peerUrl,
        greeting: parts.greeting(),
        answered: (answer) => {
          if (answer.kind === 'welcome') this.#opened(answer.greeting);
          parts.handlers.onAnswer(peer.id, answer);
        },
        received: (messages, byteCount) => parts.received(peer, messages, byteCount),
        drained: () => this.#flush(),
        roundTrip: (durationMs) => {
          parts.observer.roundTrip(peer.id, durationMs);
          parts.handlers.onRoundTrip(peer.id, durationMs);
        },
        closed: (reason) => this.#closed(reason),
      });
    } catch (error) {
      // A peer URL that cannot be used: an update of the member brings a new link.
      this.#closed(errorText(error));
      return;
    }
    this.#call = call;
  }

  #opened({ protocolVersion }: Greeting): void {
    this.#backoff.reset();
    this.#lastReason = undefined;
    const own = this.parts.greeting().protocolVersion;
    this.parts.logger.info(
      { peer: this.peer.name, protocolVersion: Math.min(own, protocolVersion) },
      'connected to peer',
    );
    this.parts.observer.connected(this.peer.id, true);
    this.#planFlush();
  }

  #closed(reason: string): void {
    this.#call = undefined;
    const droppedCount = this.#queue.clear();
    if (droppedCount > 0) {
      this.parts.observer.dropped(this.peer.id, droppedCount, 'disconnected');
    }
    this.parts.observer.connected(this.peer.id, false);
    if (this.#stopped) return;
    if (reason !== this.#lastReason) {
      this.parts.logger.warn(
        { peer: this.peer.name, peerUrl: this.peer.peerUrl, reason },
        'not connected to peer',
      );
      this.#lastReason = reason;
    }
    this.#reconnect = this.parts.clock.setTimer(this.#backoff.nextMs(), () => {
      this.#reconnect = undefined;
      this.#connect();
    });
    this.#unreachable(reason);
  }

  #dropped(count: number): void {
    const { logger, observer } = this.parts;
    observer.dropped(this.peer.id, count, 'queueFull');
    logger.warn({ peer: this.peer.name, count }, 'the peer is too slow, messages dropped');
    this.#unreachable('too slow: its queue was full');
  }

  /** Not within `send` or `setPeers`: whoever calls those is in the middle of a step. */
  #unreachable(reason: string): void {
    const { clock, handlers } = this.parts;
    void clock.nextTurn().then(() => {
      if (!this.#stopped) handlers.onUnreachable(this.peer.id, reason);
    });
  }

  #planFlush(): void {
    if (this.#flushPlanned || !this.#call?.isOpen) return;
    this.#flushPlanned = true;
    void this.parts.clock.nextTurn().then(() => {
      this.#flushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    const call = this.#call;
    if (this.#flushPlanned) return;
    while (call?.isOpen && this.#queue.length > 0 && call.unsentBytes < UNSENT_BYTES_MAX) {
      call.send(this.#queue.takeFrame());
    }
  }
}
