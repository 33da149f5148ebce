/**
 * Maintains the connection to one peer and sends its messages. Messages of one turn of the event
 * loop share a frame. When a connection breaks, queued messages are lost: that is reported as
 * unreachable, and consensus repeats the important ones.
 */
import { Backoff, type Logger, type LoopClock, type Timer } from '@orch/component';
import type { Message } from '../../core/messages.js';
import type { Member } from '../../core/types.js';
import type { FrameNetwork } from '../frame-network.js';
import { connectPatienceMs, reconnectMaxMs, reconnectMinMs, unsentBytesMax } from '../limits.js';
import type { Greeting, PeerLoss, TransportHandlers } from '../transport.js';
import { errorText } from '../transport-error.js';
import type { TransportObserver } from '../transport-observer.js';
import { Exchange } from './exchange.js';
import { MessageQueue } from './message-queue.js';

export interface PeerLinkDependencies {
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
  private readonly queue = new MessageQueue();
  private readonly backoff: Backoff;
  private call: Exchange | undefined;
  private reconnect: Timer | undefined;
  private triedAtMs = 0;
  private flushPlanned = false;
  private stopped = false;
  /** Logged once, until it changes. */
  private lastReason: string | undefined;

  constructor(
    readonly peer: Member,
    private readonly dependencies: PeerLinkDependencies,
  ) {
    this.backoff = new Backoff({
      initialMs: reconnectMinMs,
      maxMs: reconnectMaxMs,
      factor: 2,
      jitter: 0.5,
      random: dependencies.random,
    });
    this.connect();
  }

  get isOpen(): boolean {
    return this.call?.isOpen ?? false;
  }

  send(message: Message, byteCount: number): void {
    if (this.stopped) return;
    const droppedCount = this.queue.push(message, byteCount);
    if (droppedCount > 0) this.dropped(droppedCount);
    this.planFlush();
  }

  /**
   * The peer has just connected to us, so it is reachable: connect now, also when an attempt hangs.
   */
  reconnectSoon(): void {
    const call = this.call;
    const ageMs = this.dependencies.clock.monotonicMs() - this.triedAtMs;
    if (call && !call.isOpen && ageMs > connectPatienceMs) call.close('begun anew');
    if (!this.reconnect) return;
    this.reconnect.cancel();
    this.reconnect = undefined;
    this.backoff.reset();
    this.connect();
  }

  stop(): void {
    this.stopped = true;
    this.reconnect?.cancel();
    this.reconnect = undefined;
    this.queue.clear();
    this.call?.close('no longer wanted');
  }

  private connect(): void {
    const { dependencies: parts, peer } = this;
    this.triedAtMs = parts.clock.monotonicMs();
    let call: Exchange;
    try {
      call = new Exchange({
        ...parts,
        peer: peer.id,
        peerUrl: peer.peerUrl,
        greeting: parts.greeting(),
        answered: (answer) => {
          if (answer.kind === 'welcome') this.opened(answer.greeting);
          parts.handlers.onAnswer(peer.id, answer);
        },
        received: (messages, byteCount) => parts.received(peer, messages, byteCount),
        drained: () => this.flush(),
        roundTrip: (durationMs) => {
          parts.observer.roundTrip(peer.id, durationMs);
          parts.handlers.onRoundTrip(peer.id, durationMs);
        },
        closed: (reason) => this.closed(reason),
      });
    } catch (error) {
      // A peer URL that cannot be used: an update of the member brings a new link.
      this.closed(errorText(error));
      return;
    }
    this.call = call;
  }

  private opened({ protocolVersion }: Greeting): void {
    this.backoff.reset();
    this.lastReason = undefined;
    const own = this.dependencies.greeting().protocolVersion;
    this.dependencies.logger.info(
      { peer: this.peer.name, protocolVersion: Math.min(own, protocolVersion) },
      'connected to peer',
    );
    this.dependencies.observer.connected(this.peer.id, true);
    this.planFlush();
  }

  private closed(reason: string): void {
    this.call = undefined;
    const droppedCount = this.queue.clear();
    if (droppedCount > 0) {
      this.dependencies.observer.dropped(this.peer.id, droppedCount, 'disconnected');
    }
    this.dependencies.observer.connected(this.peer.id, false);
    if (this.stopped) return;
    if (reason !== this.lastReason) {
      this.dependencies.logger.warn(
        { peer: this.peer.name, peerUrl: this.peer.peerUrl, reason },
        'not connected to peer',
      );
      this.lastReason = reason;
    }
    this.reconnect = this.dependencies.clock.setTimer(this.backoff.nextMs(), () => {
      this.reconnect = undefined;
      this.connect();
    });
    this.unreachable({ reason, connected: false });
  }

  private dropped(count: number): void {
    const { logger, observer } = this.dependencies;
    observer.dropped(this.peer.id, count, 'queueFull');
    logger.warn({ peer: this.peer.name, count }, 'the peer is too slow, messages dropped');
    this.unreachable({ reason: 'too slow: its queue was full', connected: this.isOpen });
  }

  /** Not within `send` or `setPeers`: their callers are in the middle of a step. */
  private unreachable(loss: PeerLoss): void {
    const { clock, handlers } = this.dependencies;
    void clock.nextTurn().then(() => {
      if (!this.stopped) handlers.onUnreachable(this.peer.id, loss);
    });
  }

  private planFlush(): void {
    if (this.flushPlanned || !this.call?.isOpen) return;
    this.flushPlanned = true;
    void this.dependencies.clock.nextTurn().then(() => {
      this.flushPlanned = false;
      this.flush();
    });
  }

  private flush(): void {
    const call = this.call;
    if (this.flushPlanned) return;
    while (call?.isOpen && this.queue.length > 0 && call.unsentBytes < unsentBytesMax) {
      call.send(this.queue.takeFrame());
    }
  }
}
