/**
 * A network for simulation: its transports run the real code above frames (greetings, links,
 * queues, codecs and checksums) over links that can lose, duplicate, reorder, delay, damage, clog
 * and interrupt. Deterministic for a clock and a random source; conditions may be changed at any
 * time, for each direction of each pair of addresses.
 */
import { type Clock, createLogger, type Logger, type LoopClock } from '@orch/component';
import type {
  ChannelEvents,
  FrameChannel,
  FrameListener,
  FrameNetwork,
  FrameSink,
  RequestKind,
} from '../transport/frame-network.js';
import { addressOf } from '../transport/grpc/peer-address.js';
import { PeerTransport } from '../transport/peer/peer-transport.js';
import type { Transport } from '../transport/transport.js';
import { errorText, TransportError } from '../transport/transport-error.js';
import type { TransportObserver } from '../transport/transport-observer.js';
import { openSimCall, type SimProcess } from './sim-call.js';
import { calmConditions, type LinkConditions, SimLink, type SimNetworkCounts } from './sim-link.js';
import { SimSink } from './sim-sink.js';

export interface SimNetworkOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1); seeded. */
  readonly random: () => number;
}

export interface SimTransportOptions {
  /** Clock of the replica: it may run fast, slow, or stand still. */
  readonly clock: LoopClock;
  readonly logger?: Logger;
  readonly observer?: TransportObserver;
}

const silentLogger = createLogger({
  component: 'simulation',
  format: 'json',
  level: 'fatal',
  write: () => undefined,
});

export class SimNetwork {
  readonly counts: SimNetworkCounts = {
    carried: 0,
    lost: 0,
    duplicated: 0,
    reordered: 0,
    stale: 0,
    corrupted: 0,
    entriesDamaged: 0,
    clogged: 0,
    cut: 0,
    reset: 0,
    snapshotReset: 0,
    wrongCluster: 0,
  };
  private readonly links = new Map<string, SimLink>();
  private readonly nodes = new Map<string, SimNode>();
  private conditions: LinkConditions = calmConditions;

  constructor(readonly options: SimNetworkOptions) {}

  /** The transport of a process at `peerUrl`. The process before must have ended. */
  transport(peerUrl: string, options: SimTransportOptions): Transport {
    const address = addressOf(peerUrl);
    this.nodes.get(address)?.crash();
    const node = new SimNode(this, address);
    this.nodes.set(address, node);
    return new PeerTransport(node, {
      logger: silentLogger,
      ...options,
      random: this.options.random,
    });
  }

  /** The process dies; the machine closes its connections, except over interrupted links. */
  crash(peerUrl: string): void {
    this.nodes.get(addressOf(peerUrl))?.crash();
  }

  /** Delivers nothing until `resume`, then all messages. The caller stops its clock. */
  pause(peerUrl: string): void {
    this.nodes.get(addressOf(peerUrl))?.pause();
  }

  resume(peerUrl: string): void {
    this.nodes.get(addressOf(peerUrl))?.resume();
  }

  /** One direction between two addresses. */
  link(fromUrl: string, toUrl: string): SimLink {
    const [from, to] = [addressOf(fromUrl), addressOf(toUrl)];
    return this.linkBetween(from, to);
  }

  linkBetween(from: string, to: string): SimLink {
    const key = `${from} ${to}`;
    let link = this.links.get(key);
    if (!link) {
      const { clock, random } = this.options;
      link = new SimLink(clock, random, this.counts, this.conditions);
      this.links.set(key, link);
    }
    return link;
  }

  /** Conditions of all links, also of later ones. */
  setAll(change: Partial<LinkConditions>): void {
    this.conditions = { ...this.conditions, ...change };
    for (const link of this.links.values()) link.set(change);
  }

  /**
   * Nothing goes between members of different groups, either way; within a group everything does.
   */
  partition(groups: readonly (readonly string[])[]): void {
    const all = groups.flat();
    for (const from of all) {
      for (const to of all) {
        if (from === to) continue;
        const together = groups.some((group) => group.includes(from) && group.includes(to));
        this.link(from, to).set({ cut: !together });
      }
    }
  }

  /** `one` receives nothing, is not received, or both. */
  isolate(one: string, others: readonly string[], direction: 'in' | 'out' | 'both'): void {
    for (const other of others) {
      if (other === one) continue;
      if (direction !== 'out') this.link(other, one).set({ cut: true });
      if (direction !== 'in') this.link(one, other).set({ cut: true });
    }
  }

  /** Each reaches its neighbours only, the last one those at both ends. */
  ring(members: readonly string[]): void {
    members.forEach((from, at) => {
      members.forEach((to, other) => {
        if (at === other) return;
        const apart = Math.abs(at - other);
        const isNeighbour = apart === 1 || apart === members.length - 1;
        this.link(from, to).set({ cut: !isNeighbour });
      });
    });
  }

  /** Two sides that do not reach each other, and one in the middle that both reach. */
  bridge(left: readonly string[], middle: string, right: readonly string[]): void {
    this.partition([left, right]);
    for (const side of [...left, ...right]) {
      this.link(side, middle).set({ cut: false });
      this.link(middle, side).set({ cut: false });
    }
  }

  /** Ends all interruptions and clogs; other conditions remain. */
  heal(): void {
    this.setAll({ cut: false, clogged: false });
  }

  node(address: string): SimNode | undefined {
    return this.nodes.get(address);
  }
}

/** One process on the network. */
class SimNode implements FrameNetwork, SimProcess {
  readonly ends = new Set<{ destroy(reason: string): void }>();
  private attachedListener: FrameListener | undefined;
  private alive = true;
  private paused: (() => void)[] | undefined;

  constructor(
    private readonly network: SimNetwork,
    private readonly address: string,
  ) {}

  get isAlive(): boolean {
    return this.alive;
  }

  get listener(): FrameListener | undefined {
    return this.alive ? this.attachedListener : undefined;
  }

  run(work: () => void): void {
    if (!this.alive) return;
    if (this.paused) this.paused.push(work);
    else work();
  }

  pause(): void {
    this.paused ??= [];
  }

  resume(): void {
    const paused = this.paused ?? [];
    this.paused = undefined;
    for (const work of paused) this.run(work);
  }

  crash(): void {
    for (const end of this.ends) end.destroy('connection reset by peer');
    this.alive = false;
  }

  async prepare(): Promise<void> {}

  async listen(listener: FrameListener): Promise<void> {
    this.attachedListener = listener;
  }

  open(peerUrl: string, events: ChannelEvents): FrameChannel {
    return openSimCall(
      {
        ...this.linksTo(peerUrl),
        caller: this,
        callee: () => {
          const process = this.network.node(addressOf(peerUrl));
          const listener = process?.listener;
          return process && listener && { process, accept: (end) => listener.accept(end) };
        },
      },
      events,
    );
  }

  openSnapshot(peerUrl: string): FrameSink {
    return new SimSink({
      ...this.linksTo(peerUrl),
      caller: this,
      callee: () => {
        const process = this.network.node(addressOf(peerUrl));
        const listener = process?.listener;
        return process && listener && { process, listener };
      },
    });
  }

  ask(peerUrl: string, kind: RequestKind, frame: Buffer, timeoutMs: number): Promise<Buffer> {
    const { forward, back } = this.linksTo(peerUrl);
    const nothing = () => undefined;
    return new Promise((resolve, reject) => {
      const text = `${peerUrl} did not respond in time`;
      const timer = this.network.options.clock.setTimer(timeoutMs, () =>
        this.run(() => reject(new TransportError('DeadlineExceeded', text))),
      );
      const settle = (work: () => void) =>
        this.run(() => {
          timer.cancel();
          work();
        });
      const refuse = (code: 'Refused' | 'Unreachable', reason: string) =>
        back.signal(() => settle(() => reject(new TransportError(code, `${peerUrl}: ${reason}`))));
      const answer = async (arrived: Buffer) => {
        const process = this.network.node(addressOf(peerUrl));
        if (!process?.listener) return refuse('Unreachable', 'connection refused');
        try {
          const reply = await process.listener.answer(kind, arrived);
          if (process.isAlive) back.carry(reply, (got) => settle(() => resolve(got)), nothing);
        } catch (error) {
          refuse('Refused', errorText(error));
        }
      };
      forward.carry(frame, (arrived) => void answer(arrived), nothing);
    });
  }

  async stop(): Promise<void> {
    this.crash();
  }

  private linksTo(peerUrl: string) {
    const to = addressOf(peerUrl);
    return {
      forward: this.network.linkBetween(this.address, to),
      back: this.network.linkBetween(to, this.address),
    };
  }
}
