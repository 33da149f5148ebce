/**
 * The network between replicas. Each replica keeps one call open to each other one and says everything
 * there; snapshots go over connections of their own, so that nothing waits behind them. Losing messages is
 * allowed, and told; inventing them or mixing up who said them is not. What carries the frames is given.
 */
import type { Logger, LoopClock } from '@orch/component';
import type { Member, MemberId, Message, SnapshotPoint, Term } from '../core/types.js';
import type { ReplicaStatus } from '../replicated-log.js';
import type { ChannelEvents, FrameChannel, FrameNetwork } from './frame-network.js';
import { InboundExchange } from './inbound-exchange.js';
import { receiveSnapshot } from './inbound-snapshot.js';
import { MESSAGE_BYTES_MAX, SNAPSHOT_BYTES_PER_SECOND, UNJUDGED_CALLS_MAX } from './limits.js';
import { messageBytes } from './message-queue.js';
import { OutboundSnapshot } from './outbound-snapshot.js';
import { PeerLink } from './peer-link.js';
import { PeerRequests } from './peer-requests.js';
import type {
  Greeting,
  OperatorAnswer,
  OperatorRequest,
  Transport,
  TransportHandlers,
} from './transport.js';
import { TransportError } from './transport-error.js';
import { silentObserver, type TransportObserver } from './transport-observer.js';
import { snapshotHeaderToWire } from './wire-forms.js';

export interface PeerTransportOptions {
  readonly clock: LoopClock;
  /** Uniform in [0, 1): spreads reconnects. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer?: TransportObserver;
  /** Of each snapshot that goes out. Higher: followers catch up sooner; lower: more is left to others. */
  readonly snapshotBytesPerSecond?: number;
}

interface Running {
  readonly greeting: () => Greeting;
  readonly handlers: TransportHandlers;
}

export class PeerTransport implements Transport {
  readonly #links = new Map<MemberId, PeerLink>();
  /** Welcome calls that came in, by who called; and all the others. */
  readonly #inbound = new Map<MemberId, InboundExchange>();
  readonly #unjudged = new Set<InboundExchange>();
  readonly #snapshots = new Set<OutboundSnapshot>();
  readonly #requests: PeerRequests;
  readonly #observer: TransportObserver;
  #running: Running | undefined;
  #stopped = false;

  constructor(
    private readonly network: FrameNetwork,
    private readonly options: PeerTransportOptions,
  ) {
    this.#requests = new PeerRequests(network, options.clock);
    this.#observer = options.observer ?? silentObserver;
  }

  async start(greeting: () => Greeting, handlers: TransportHandlers): Promise<void> {
    if (this.#running || this.#stopped) throw new TransportError('Stopped', 'started twice');
    this.#running = { greeting, handlers };
    await this.network.prepare();
    const { clock } = this.options;
    await this.network.listen({
      accept: (channel) => this.#accept(channel),
      snapshot: (frames) => receiveSnapshot(frames, { clock, observer: this.#observer, handlers }),
      answer: (kind, frame) => this.#requests.answer(kind, frame, greeting().clusterId, handlers),
    });
  }

  setPeers(peers: readonly Member[]): void {
    const running = this.#expectRunning();
    if (this.#stopped) return;
    const wanted = new Map(peers.map((peer) => [peer.id, peer]));
    for (const [id, link] of this.#links) {
      if (wanted.get(id)?.peerUrl === link.peer.peerUrl) continue;
      link.stop();
      this.#links.delete(id);
      // Removed: when it comes back it is told so.
      if (!wanted.has(id)) this.#inbound.get(id)?.close();
    }
    for (const peer of peers) {
      if (this.#links.has(peer.id)) continue;
      const { clock, random, logger } = this.options;
      const link = new PeerLink(peer, {
        greeting: running.greeting,
        network: this.network,
        clock,
        random,
        logger,
        observer: this.#observer,
        handlers: running.handlers,
        received: ({ id }, messages, byteCount) => this.#received(id, messages, byteCount),
      });
      this.#links.set(peer.id, link);
    }
  }

  send(messages: readonly Message[]): void {
    if (this.#stopped) return;
    const unlinked = new Map<MemberId, Message[]>();
    for (const message of messages) {
      const byteCount = messageBytes(message);
      const link = this.#links.get(message.to);
      if (byteCount > MESSAGE_BYTES_MAX) this.#dropTooLarge(message, byteCount);
      else if (link) link.send(message, byteCount);
      else {
        const others = unlinked.get(message.to);
        if (others) others.push(message);
        else unlinked.set(message.to, [message]);
      }
    }
    for (const [peer, said] of unlinked) {
      if (this.#inbound.get(peer)?.send(said)) continue;
      this.#observer.dropped(peer, said.length, 'unknownPeer');
    }
  }

  async sendSnapshot(
    to: MemberId,
    term: Term,
    point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void> {
    const { greeting } = this.#expectRunning();
    const { clock, snapshotBytesPerSecond = SNAPSHOT_BYTES_PER_SECOND } = this.options;
    const { peerUrl } = this.#expectPeer(to);
    const snapshot = new OutboundSnapshot(
      {
        peer: to,
        header: snapshotHeaderToWire(greeting(), term, point),
        sink: this.network.openSnapshot(peerUrl),
        clock,
        observer: this.#observer,
        bytesPerSecond: snapshotBytesPerSecond,
      },
      chunks,
    );
    this.#snapshots.add(snapshot);
    try {
      await snapshot.done;
    } finally {
      this.#snapshots.delete(snapshot);
    }
  }

  async requestStatus(peer: MemberId, deadlineMs: number): Promise<ReplicaStatus> {
    const { clusterId } = this.#expectRunning().greeting();
    return this.#requests.status(this.#expectPeer(peer).peerUrl, clusterId, deadlineMs);
  }

  async requestStatusAt(peerUrl: string, deadlineMs: number): Promise<ReplicaStatus> {
    await this.network.prepare();
    return this.#requests.status(peerUrl, undefined, deadlineMs);
  }

  async requestOperation(
    peer: MemberId,
    request: OperatorRequest,
    deadlineMs: number,
  ): Promise<OperatorAnswer> {
    const { clusterId } = this.#expectRunning().greeting();
    return this.#requests.operation(this.#expectPeer(peer).peerUrl, clusterId, request, deadlineMs);
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const link of this.#links.values()) link.stop();
    for (const snapshot of this.#snapshots) snapshot.abort('this replica stops');
    for (const inbound of [...this.#unjudged, ...this.#inbound.values()]) inbound.close();
    this.#links.clear();
    await this.network.stop();
  }

  #accept(channel: FrameChannel): ChannelEvents {
    const { handlers } = this.#expectRunning();
    const { clock, logger } = this.options;
    const inbound = new InboundExchange(channel, {
      clock,
      logger,
      observer: this.#observer,
      judge: (greeting) => handlers.onGreeting(greeting),
      welcomed: (peer) => {
        this.#unjudged.delete(inbound);
        this.#inbound.get(peer)?.close();
        this.#inbound.set(peer, inbound);
        this.#links.get(peer)?.hint();
      },
      received: (from, messages, byteCount) => this.#received(from, messages, byteCount),
      closed: (peer) => {
        this.#unjudged.delete(inbound);
        if (peer !== undefined && this.#inbound.get(peer) === inbound) this.#inbound.delete(peer);
      },
    });
    this.#unjudged.add(inbound);
    if (this.#unjudged.size > UNJUDGED_CALLS_MAX) inbound.refuse('too many calls without greeting');
    return inbound;
  }

  #received(from: MemberId, messages: readonly Message[], byteCount: number): void {
    if (this.#stopped) return;
    const { greeting, handlers } = this.#expectRunning();
    const { memberId } = greeting();
    this.#observer.received(from, messages.length, byteCount);
    const own = messages.filter((message) => message.from === from && message.to === memberId);
    const strayCount = messages.length - own.length;
    if (strayCount > 0) {
      this.#observer.dropped(from, strayCount, 'misaddressed');
      this.options.logger.warn(
        { peer: from, count: strayCount },
        'a peer sent messages of or for somebody else',
      );
    }
    if (own.length > 0) handlers.onMessages(own);
  }

  #dropTooLarge(message: Message, byteCount: number): void {
    this.#observer.dropped(message.to, 1, 'tooLarge');
    this.options.logger.error(
      { peer: message.to, kind: message.kind, byteCount },
      'a message is too large to be sent',
    );
  }

  #expectRunning(): Running {
    if (!this.#running) throw new TransportError('Stopped', 'the transport has not been started');
    return this.#running;
  }

  #expectPeer(id: MemberId): Member {
    if (this.#stopped) throw new TransportError('Stopped', 'the transport has been stopped');
    const link = this.#links.get(id);
    if (!link) throw new TransportError('UnknownPeer', `${id} is no peer of this replica`);
    return link.peer;
  }
}
