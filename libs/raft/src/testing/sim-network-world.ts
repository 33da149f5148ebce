/** A simulated network with ends that record all deliveries, for its tests. */
import { expect } from 'vitest';
import { asMemberId, asTerm, branded, noIndex } from '../core/brands.js';
import type { Message } from '../core/messages.js';
import { mulberry32 } from '../core/testing/mulberry32.js';
import type { Entry, LogPoint, Member, SnapshotPoint } from '../core/types.js';
import type { ReplicaStatus } from '../replicated-log.js';
import {
  type Greeting,
  type GreetingAnswer,
  type PeerLoss,
  type Transport,
  type TransportHandlers,
  wireProtocolVersion,
} from '../transport/transport.js';
import { ManualClock } from './manual-clock.js';
import { SimNetwork } from './sim-network.js';

/** One end of the simulated network: records everything that it receives. */
export class SimEnd implements TransportHandlers {
  readonly answers: string[] = [];
  readonly contexts: number[] = [];
  readonly unreachable: string[] = [];
  readonly chunks: Buffer[] = [];
  /** Entries of each received append. */
  readonly appended: (readonly Entry[])[] = [];
  damaged = 0;
  dropped = 0;
  transport!: Transport;

  constructor(
    private readonly world: SimNetworkWorld,
    readonly id: string,
  ) {
    this.begin();
  }

  get url(): string {
    return `https://${this.id}:1`;
  }

  get member(): Member {
    return { id: asMemberId(this.id), name: this.id, peerUrl: this.url, clientUrl: '' };
  }

  begin(): void {
    const nothing = () => undefined;
    this.transport = this.world.network.transport(this.url, {
      clock: this.world.clock,
      observer: {
        sent: nothing,
        received: nothing,
        dropped: (_peer, count) => {
          this.dropped += count;
        },
        damaged: () => {
          this.damaged += 1;
        },
        connected: nothing,
        roundTrip: nothing,
        snapshotSent: nothing,
        snapshotReceived: nothing,
      },
    });
  }

  async start(others: readonly SimEnd[]): Promise<void> {
    await this.transport.start(() => this.greeting(), this);
    this.transport.setPeers(others.filter((other) => other !== this).map(({ member }) => member));
  }

  say(to: SimEnd, ...contexts: number[]): void {
    this.transport.send(
      branded(
        contexts.map((context) => ({
          kind: 'heartbeatRequest',
          from: this.id,
          to: to.id,
          term: 1,
          commitIndex: noIndex,
          context,
        })),
      ),
    );
  }

  append(to: SimEnd, previous: LogPoint, entries: readonly Entry[]): void {
    const commitIndex = noIndex;
    const { id: from } = this;
    this.transport.send([
      {
        kind: 'appendRequest',
        from: asMemberId(from),
        to: asMemberId(to.id),
        term: asTerm(1),
        previous,
        entries,
        commitIndex,
        notice: false,
      },
    ]);
  }

  greeting(): Greeting {
    const storageId = `storage-of-${this.id}`;
    return {
      clusterId: 'one',
      memberId: asMemberId(this.id),
      storageId,
      protocolVersion: wireProtocolVersion,
      fresh: false,
    };
  }

  onGreeting(greeting: Greeting): GreetingAnswer {
    if (greeting.clusterId !== 'one') return { kind: 'wrongCluster', clusterId: 'one' };
    return { kind: 'welcome', greeting: this.greeting() };
  }

  onAnswer(peer: string, answer: GreetingAnswer): void {
    this.answers.push(`${peer} ${answer.kind}`);
  }

  onMessages(messages: readonly Message[]): void {
    for (const message of messages) {
      expect(message).toMatchObject({ to: this.id, term: 1 });
      if (message.kind === 'appendRequest') this.appended.push(message.entries);
      else if (message.kind === 'heartbeatRequest') this.contexts.push(message.context);
      else expect.unreachable(`unexpected ${message.kind}`);
    }
  }

  onUnreachable(peer: string, { reason }: PeerLoss): void {
    this.unreachable.push(`${peer} ${reason}`);
  }

  async onSnapshot(
    _from: string,
    _term: number,
    _point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void> {
    this.chunks.length = 0;
    for await (const chunk of chunks) this.chunks.push(chunk);
  }

  onStatusRequest(): ReplicaStatus {
    return { member: this.member, error: 'busy' };
  }

  onOperatorRequest(): Promise<never> {
    return Promise.reject(new Error('not supported'));
  }

  onRoundTrip(): void {}
}

/** A simulated network with its clock and its ends. */
export class SimNetworkWorld {
  readonly clock = new ManualClock();
  readonly network: SimNetwork;
  readonly replicas: SimEnd[];

  constructor(seed: number, count: number) {
    this.network = new SimNetwork({ clock: this.clock, random: mulberry32(seed) });
    this.replicas = Array.from({ length: count }, (_, at) => new SimEnd(this, `r${at}`));
  }

  static async start(seed: number, count: number): Promise<SimNetworkWorld> {
    const world = new SimNetworkWorld(seed, count);
    for (const replica of world.replicas) await replica.start(world.replicas);
    await world.pass(50);
    return world;
  }

  /** Advances the clock after the earlier messages and requests are sent. */
  async pass(byMs: number): Promise<void> {
    await this.clock.advance(0);
    await this.clock.advance(byMs);
  }

  get urls(): string[] {
    return this.replicas.map(({ url }) => url);
  }
}

/** The numbers from `from` to `to`, without `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}
