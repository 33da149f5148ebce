/**
 * The network between replicas. Each replica has one open call to every other one for its messages;
 * snapshots use connections of their own, so that messages do not wait behind them. Messages may be
 * lost, and losses are reported; they are never invented or attributed to another sender.
 * `FrameNetwork` carries the frames.
 */
import type { Logger, LoopClock } from '@orch/component';
import type { Message } from '../../core/messages.js';
import type { Member, MemberId, SnapshotPoint, Term } from '../../core/types.js';
import type { ReplicaStatus } from '../../replicated-log.js';
import type { ChannelEvents, FrameChannel, FrameNetwork } from '../frame-network.js';
import { defaultSnapshotBytesPerSecond, messageBytesMax, ungreetedCallsMax } from '../limits.js';
import type {
  Greeting,
  OperatorAnswer,
  OperatorRequest,
  Transport,
  TransportHandlers,
} from '../transport.js';
import { TransportError } from '../transport-error.js';
import { silentObserver, type TransportObserver } from '../transport-observer.js';
import { InboundExchange } from './inbound-exchange.js';
import { receiveSnapshot } from './inbound-snapshot.js';
import { messageBytes } from './message-queue.js';
import { OutboundSnapshot } from './outbound-snapshot.js';
import { PeerLink } from './peer-link.js';
import { PeerRequests } from './peer-requests.js';
import { snapshotHeaderToWire } from './wire-forms.js';

export interface PeerTransportOptions {
  readonly clock: LoopClock;
  /** Uniform in [0, 1): spreads reconnects. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer?: TransportObserver;
  /**
   * Bytes per second of each outgoing snapshot. Higher: followers catch up sooner. Lower: more
   * bandwidth for other traffic.
   */
  readonly snapshotBytesPerSecond?: number;
}

interface Running {
  readonly greeting: () => Greeting;
  readonly handlers: TransportHandlers;
}

export class PeerTransport implements Transport {
  private readonly links = new Map<MemberId, PeerLink>();
  /** Admitted incoming calls by caller; and all others. */
  private readonly inbound = new Map<MemberId, InboundExchange>();
  private readonly unjudged = new Set<InboundExchange>();
  private readonly snapshots = new Set<OutboundSnapshot>();
  private readonly requests: PeerRequests;
  private readonly observer: TransportObserver;
  private running: Running | undefined;
  private stopped = false;

  constructor(
    private readonly network: FrameNetwork,
    private readonly options: PeerTransportOptions,
  ) {
    this.requests = new PeerRequests(network, options.clock);
    this.observer = options.observer ?? silentObserver;
  }

  async start(greeting: () => Greeting, handlers: TransportHandlers): Promise<void> {
    if (this.running || this.stopped) throw new TransportError('Stopped', 'started twice');
    this.running = { greeting, handlers };
    await this.network.prepare();
    const { clock } = this.options;
    await this.network.listen({
      accept: (channel) => this.accept(channel),
      snapshot: (frames) => receiveSnapshot(frames, { clock, observer: this.observer, handlers }),
      answer: (kind, frame) => this.requests.answer(kind, frame, greeting().clusterId, handlers),
    });
  }

  setPeers(peers: readonly Member[]): void {
    const running = this.expectRunning();
    if (this.stopped) return;
    const wanted = new Map(peers.map((peer) => [peer.id, peer]));
    for (const [id, link] of this.links) {
      if (wanted.get(id)?.peerUrl === link.peer.peerUrl) continue;
      link.stop();
      this.links.delete(id);
      // Removed: when it connects again it is informed of that.
      if (!wanted.has(id)) this.inbound.get(id)?.close();
    }
    for (const peer of peers) {
      if (this.links.has(peer.id)) continue;
      const { clock, random, logger } = this.options;
      const link = new PeerLink(peer, {
        greeting: running.greeting,
        network: this.network,
        clock,
        random,
        logger,
        observer: this.observer,
        handlers: running.handlers,
        received: ({ id }, messages, byteCount) => this.received(id, messages, byteCount),
      });
      this.links.set(peer.id, link);
    }
  }

  send(messages: readonly Message[]): void {
    if (this.stopped) return;
    const unlinked = new Map<MemberId, Message[]>();
    for (const message of messages) {
      const byteCount = messageBytes(message);
      const link = this.links.get(message.to);
      if (byteCount > messageBytesMax) this.dropTooLarge(message, byteCount);
      else if (link) link.send(message, byteCount);
      else {
        const others = unlinked.get(message.to);
        if (others) others.push(message);
        else unlinked.set(message.to, [message]);
      }
    }
    for (const [peer, said] of unlinked) {
      if (this.inbound.get(peer)?.send(said)) continue;
      this.observer.dropped(peer, said.length, 'unknownPeer');
    }
  }

  async sendSnapshot(
    to: MemberId,
    term: Term,
    point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void> {
    const { greeting } = this.expectRunning();
    const { clock, snapshotBytesPerSecond = defaultSnapshotBytesPerSecond } = this.options;
    const { peerUrl } = this.expectPeer(to);
    const snapshot = new OutboundSnapshot(
      {
        peer: to,
        header: snapshotHeaderToWire(greeting(), term, point),
        sink: this.network.openSnapshot(peerUrl),
        clock,
        observer: this.observer,
        bytesPerSecond: snapshotBytesPerSecond,
      },
      chunks,
    );
    this.snapshots.add(snapshot);
    try {
      await snapshot.done;
    } finally {
      this.snapshots.delete(snapshot);
    }
  }

  async requestStatus(peer: MemberId, deadlineMs: number): Promise<ReplicaStatus> {
    const { clusterId } = this.expectRunning().greeting();
    return this.requests.status(this.expectPeer(peer).peerUrl, clusterId, deadlineMs);
  }

  async requestStatusAt(peerUrl: string, deadlineMs: number): Promise<ReplicaStatus> {
    await this.network.prepare();
    return this.requests.status(peerUrl, undefined, deadlineMs);
  }

  async requestOperation(
    peer: MemberId,
    request: OperatorRequest,
    deadlineMs: number,
  ): Promise<OperatorAnswer> {
    const { clusterId } = this.expectRunning().greeting();
    return this.requests.operation(this.expectPeer(peer).peerUrl, clusterId, request, deadlineMs);
  }

  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    for (const link of this.links.values()) link.stop();
    for (const snapshot of this.snapshots) snapshot.abort('this replica stops');
    for (const inbound of [...this.unjudged, ...this.inbound.values()]) inbound.close();
    this.links.clear();
    await this.network.stop();
  }

  private accept(channel: FrameChannel): ChannelEvents {
    const { handlers } = this.expectRunning();
    const { clock, logger } = this.options;
    const inbound = new InboundExchange(channel, {
      clock,
      logger,
      observer: this.observer,
      judge: (greeting) => handlers.onGreeting(greeting),
      welcomed: (peer) => {
        this.unjudged.delete(inbound);
        this.inbound.get(peer)?.close();
        this.inbound.set(peer, inbound);
        this.links.get(peer)?.reconnectSoon();
      },
      received: (from, messages, byteCount) => this.received(from, messages, byteCount),
      closed: (peer) => {
        this.unjudged.delete(inbound);
        if (peer !== undefined && this.inbound.get(peer) === inbound) this.inbound.delete(peer);
      },
    });
    this.unjudged.add(inbound);
    if (this.unjudged.size > ungreetedCallsMax) inbound.refuse('too many calls without greeting');
    return inbound;
  }

  private received(from: MemberId, messages: readonly Message[], byteCount: number): void {
    if (this.stopped) return;
    const { greeting, handlers } = this.expectRunning();
    const { memberId } = greeting();
    this.observer.received(from, messages.length, byteCount);
    const own = messages.filter((message) => message.from === from && message.to === memberId);
    const strayCount = messages.length - own.length;
    if (strayCount > 0) {
      this.observer.dropped(from, strayCount, 'misaddressed');
      this.options.logger.warn(
        { peer: from, count: strayCount },
        'a peer sent messages with a wrong sender or receiver',
      );
    }
    if (own.length > 0) handlers.onMessages(own);
  }

  private dropTooLarge(message: Message, byteCount: number): void {
    this.observer.dropped(message.to, 1, 'tooLarge');
    this.options.logger.error(
      { peer: message.to, kind: message.kind, byteCount },
      'a message is too large to be sent',
    );
  }

  private expectRunning(): Running {
    if (!this.running) throw new TransportError('Stopped', 'the transport has not been started');
    return this.running;
  }

  private expectPeer(id: MemberId): Member {
    if (this.stopped) throw new TransportError('Stopped', 'the transport has been stopped');
    const link = this.links.get(id);
    if (!link) throw new TransportError('UnknownPeer', `${id} is no peer of this replica`);
    return link.peer;
  }
}
