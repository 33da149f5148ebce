/** What the simulated network promises: the faults asked for, the real codec, and one run for one seed. */
import { describe, expect, it } from 'vitest';
import { entryAfter, follows } from '../core/entry-checksum.js';
import type { Entry, LogPoint, Member, Message, SnapshotPoint } from '../core/types.js';
import type { LogIndex, ReplicaStatus } from '../replicated-log.js';
import {
  type Greeting,
  type GreetingAnswer,
  PROTOCOL_VERSION,
  type Transport,
  type TransportHandlers,
} from '../transport/transport.js';
import { ManualClock } from './manual-clock.js';
import { SimNetwork } from './sim-network.js';

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Replica implements TransportHandlers {
  readonly answers: string[] = [];
  readonly contexts: number[] = [];
  readonly unreachable: string[] = [];
  readonly chunks: Buffer[] = [];
  /** Entries of each append that came. */
  readonly appended: (readonly Entry[])[] = [];
  damaged = 0;
  dropped = 0;
  transport!: Transport;

  constructor(
    private readonly world: World,
    readonly id: string,
  ) {
    this.begin();
  }

  get url(): string {
    return `https://${this.id}:1`;
  }

  get member(): Member {
    return { id: this.id, name: this.id, peerUrl: this.url, clientUrl: '' };
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

  async start(others: readonly Replica[]): Promise<void> {
    await this.transport.start(() => this.greeting(), this);
    this.transport.setPeers(others.filter((other) => other !== this).map(({ member }) => member));
  }

  say(to: Replica, ...contexts: number[]): void {
    this.transport.send(
      contexts.map((context) => ({
        kind: 'heartbeatRequest',
        from: this.id,
        to: to.id,
        term: 1,
        commitIndex: 0 as LogIndex,
        context,
      })),
    );
  }

  append(to: Replica, previous: LogPoint, entries: readonly Entry[]): void {
    const commitIndex = 0 as LogIndex;
    const { id: from } = this;
    this.transport.send([
      { kind: 'appendRequest', from, to: to.id, term: 1, previous, entries, commitIndex },
    ]);
  }

  greeting(): Greeting {
    const storageId = `storage-of-${this.id}`;
    return {
      clusterId: 'one',
      memberId: this.id,
      storageId,
      protocolVersion: PROTOCOL_VERSION,
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
      else expect.unreachable(`nobody says ${message.kind}`);
    }
  }

  onUnreachable(peer: string, reason: string): void {
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
    return Promise.reject(new Error('not asked here'));
  }

  onRoundTrip(): void {}
}

class World {
  readonly clock = new ManualClock();
  readonly network: SimNetwork;
  readonly replicas: Replica[];

  constructor(seed: number, count: number) {
    this.network = new SimNetwork({ clock: this.clock, random: seeded(seed) });
    this.replicas = Array.from({ length: count }, (_, at) => new Replica(this, `r${at}`));
  }

  static async start(seed: number, count: number): Promise<World> {
    const world = new World(seed, count);
    for (const replica of world.replicas) await replica.start(world.replicas);
    await world.pass(50);
    return world;
  }

  /** What has been said or asked goes out first. */
  async pass(byMs: number): Promise<void> {
    await this.clock.advance(0);
    await this.clock.advance(byMs);
  }

  get urls(): string[] {
    return this.replicas.map(({ url }) => url);
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

describe('a simulated network', () => {
  it('carries what is said in order, once, while it is calm', async () => {
    const world = await World.start(1, 3);
    const { replicas } = world;
    const [a, b, c] = replicas as [Replica, Replica, Replica];
    expect([...a.answers].sort()).toEqual(['r1 welcome', 'r2 welcome']);
    a.say(b, ...range(0, 100));
    c.say(b, 500);
    a.say(c, 600);
    await world.pass(20);
    expect(b.contexts.filter((context) => context < 500)).toEqual(range(0, 100));
    expect(b.contexts).toContain(500);
    expect(c.contexts).toEqual([600]);
    expect([...a.unreachable, ...b.unreachable, ...c.unreachable]).toEqual([]);
  });

  it('does every fault that it is asked for, lets nothing damaged through, and is one run for one seed', async () => {
    const run = async (seed: number) => {
      const world = await World.start(seed, 3);
      const { network, replicas } = world;
      network.setAll({
        delayMaxMs: 30,
        lossRate: 0.2,
        duplicateRate: 0.3,
        reorderRate: 0.3,
        staleRate: 0.05,
        corruptRate: 0.02,
        resetRate: 0.02,
        wrongClusterRate: 0.3,
      });
      for (const turn of range(0, 200)) {
        replicas.forEach((from, at) => {
          from.say(replicas[(at + 1) % 3]!, turn * 3, turn * 3 + 1, turn * 3 + 2);
        });
        await world.pass(10);
        if (turn === 100) network.setAll({ clogged: true });
        if (turn === 105) network.setAll({ clogged: false });
      }
      await world.pass(15_000);
      const told = replicas.map(({ contexts, answers, unreachable, damaged }) => ({
        contexts,
        answers,
        unreachable,
        damaged,
      }));
      return { told, counts: network.counts };
    };
    const [first, again, other] = [await run(7), await run(7), await run(8)];
    expect(again).toEqual(first);
    expect(other.told).not.toEqual(first.told);
    const { cut, snapshotReset, entriesDamaged, ...happened } = first.counts;
    expect(Object.entries(happened).filter(([, count]) => count === 0)).toEqual([]);
    expect([cut, snapshotReset, entriesDamaged]).toEqual([0, 0, 0]);
    expect(first.told.some(({ damaged }) => damaged > 0)).toBe(true);
    expect(first.told.some(({ answers }) => answers.includes('r1 wrongCluster'))).toBe(true);
  });

  it('loses, doubles and overtakes at about the rate asked for', async () => {
    const world = await World.start(3, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [Replica, Replica];
    network.link(a.url, b.url).set({ delayMaxMs: 20, lossRate: 0.3, duplicateRate: 0.5 });
    for (const context of range(0, 600)) {
      a.say(b, context);
      await world.pass(1);
    }
    await world.pass(100);
    const distinct = new Set(b.contexts);
    expect(distinct.size / 600).toBeGreaterThan(0.6);
    expect(distinct.size / 600).toBeLessThan(0.8);
    expect(b.contexts.length / distinct.size).toBeGreaterThan(1.35);
    expect(b.contexts.length / distinct.size).toBeLessThan(1.65);
    expect(b.contexts).not.toEqual([...b.contexts].sort((x, y) => x - y));
  });

  it('keeps the beginning of a batch when a call breaks in its middle', async () => {
    const world = await World.start(5, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [Replica, Replica];
    const link = network.link(a.url, b.url);
    let partial = 0;
    for (const round of range(0, 10)) {
      link.set({ resetRate: 1 });
      b.contexts.length = 0;
      a.say(b, ...range(round * 100, round * 100 + 10));
      await world.pass(5);
      expect(b.contexts).toEqual(range(round * 100, round * 100 + b.contexts.length));
      if (b.contexts.length > 0 && b.contexts.length < 10) partial += 1;
      expect(a.unreachable.length).toBe(round + 1);
      link.set({ resetRate: 0 });
      await world.pass(2_000);
    }
    expect(partial).toBeGreaterThan(3);
  });

  it('tells of a peer that is cut off in one direction only, and connects again when healed', async () => {
    const world = await World.start(9, 3);
    const { network, replicas, urls } = world;
    const [a, b, c] = replicas as [Replica, Replica, Replica];
    network.isolate(a.url, urls, 'in');
    a.say(b, 1);
    await world.pass(10);
    expect(b.contexts).toEqual([1]);
    b.say(a, 2);
    await world.pass(5_000);
    expect(a.contexts).toEqual([]);
    expect(a.unreachable.map((text) => text.split(' ')[0])).toEqual(
      expect.arrayContaining(['r1', 'r2']),
    );
    expect(b.unreachable.some((text) => text.startsWith('r0'))).toBe(true);
    expect(c.unreachable.some((text) => text.startsWith('r1'))).toBe(false);
    network.heal();
    await world.pass(4_000);
    b.say(a, 3);
    a.say(c, 4);
    await world.pass(10);
    expect(a.contexts).toContain(3);
    expect(c.contexts).toContain(4);
  });

  it('knows halves, a ring and a bridge', () => {
    const { network, urls } = new World(1, 5);
    const open = () =>
      urls.map((from) =>
        urls.map((to) => (from !== to && !network.link(from, to).conditions.cut ? 1 : 0)).join(''),
      );
    network.partition([urls.slice(0, 2), urls.slice(2)]);
    expect(open()).toEqual(['01000', '10000', '00011', '00101', '00110']);
    network.heal();
    network.ring(urls);
    expect(open()).toEqual(['01001', '10100', '01010', '00101', '10010']);
    network.heal();
    network.bridge(urls.slice(0, 2), urls[2]!, urls.slice(3));
    expect(open()).toEqual(['01100', '10100', '11011', '00101', '00110']);
    network.heal();
    expect(open()).toEqual(['01111', '10111', '11011', '11101', '11110']);
  });

  it('holds what is clogged, slows to its bandwidth, and lets go in order', async () => {
    const world = await World.start(2, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [Replica, Replica];
    const link = network.link(a.url, b.url);
    link.set({ clogged: true });
    for (const context of range(0, 10)) {
      a.say(b, context);
      await world.pass(10);
    }
    expect(b.contexts).toEqual([]);
    link.set({ clogged: false });
    await world.pass(10);
    expect(b.contexts).toEqual(range(0, 10));
    // Ten messages of these are some 170 bytes.
    link.set({ bytesPerSecond: 200 });
    a.say(b, ...range(10, 20));
    await world.pass(500);
    expect(b.contexts.length).toBe(10);
    await world.pass(1_000);
    expect(b.contexts).toEqual(range(0, 20));
  });

  it('drops what waits for a peer that takes nothing, tells it once, and goes on after', async () => {
    const world = await World.start(2, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [Replica, Replica];
    network.link(a.url, b.url).set({ bytesPerSecond: 1 });
    a.say(b, ...range(0, 60_000));
    await world.pass(0);
    a.say(b, ...range(60_000, 70_000));
    await world.pass(1);
    expect(a.unreachable.length).toBeGreaterThan(0);
    expect(new Set(a.unreachable)).toEqual(new Set(['r1 too slow: its queue was full']));
    expect(a.dropped % 8_192).toBe(0);
    expect(a.dropped).toBeGreaterThan(0);
  });

  it('tells peers of a crash, and never delivers to or from a process that is gone', async () => {
    const world = await World.start(4, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [Replica, Replica];
    network.setAll({ delayMinMs: 5, delayMaxMs: 5 });
    a.say(b, 1);
    b.say(a, 2);
    await world.pass(1);
    network.crash(b.url);
    await world.pass(100);
    expect(b.contexts).toEqual([]);
    expect(a.unreachable.some((text) => text.includes('connection'))).toBe(true);
    b.begin();
    await b.start(replicas);
    await world.pass(1_000);
    a.say(b, 3);
    b.say(a, 4);
    await world.pass(50);
    expect(b.contexts).toEqual([3]);
    expect(a.contexts.at(-1)).toBe(4);
    network.pause(b.url);
    a.say(b, 5, 6);
    await world.pass(50);
    expect(b.contexts).toEqual([3]);
    network.resume(b.url);
    expect(b.contexts).toEqual([3, 5, 6]);
  });

  it('damages an entry so that its own checksum tells, and that of the frame does not', async () => {
    const world = await World.start(3, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [Replica, Replica];
    const start: LogPoint = { index: 0 as LogIndex, term: 0, checksum: 0 };
    const entry = entryAfter(start, 1, 'command', Buffer.from('what is wanted'));
    const append = () => a.append(b, start, [entry]);
    append();
    await world.pass(50);
    network.setAll({ entryDamageRate: 1 });
    append();
    await world.pass(50);
    const [[whole], [damaged]] = b.appended as unknown as [[Entry], [Entry]];
    expect(whole).toEqual(entry);
    expect(damaged).not.toEqual(entry);
    expect(follows(start, whole)).toBe(true);
    expect(follows(start, damaged)).toBe(false);
    expect([b.damaged, network.counts.entriesDamaged]).toEqual([0, 1]);
  });

  it('carries snapshots whole or tells that they broke off', async () => {
    const world = await World.start(6, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [Replica, Replica];
    const chunks = range(0, 40).map((at) => Buffer.alloc(1_000, at));
    const point: SnapshotPoint = {
      index: 5 as LogIndex,
      term: 1,
      checksum: 9,
      configuration: { voters: [a.member], learners: [] },
    };
    const send = async () => {
      const sent = a.transport.sendSnapshot(b.id, 1, point, stream(chunks)).then(
        () => 'whole',
        (error: Error) => error.message,
      );
      await world.pass(40_000);
      return sent;
    };
    expect(await send()).toBe('whole');
    expect(Buffer.concat(b.chunks)).toEqual(Buffer.concat(chunks));
    network.setAll({ snapshotResetRate: 0.2 });
    expect(await send()).toContain('connection reset');
    network.setAll({ snapshotResetRate: 0, corruptRate: 0.2 });
    expect(await send()).toContain('checksum');
    network.setAll({ corruptRate: 0, cut: true });
    expect(await send()).toContain('stood still');
    expect(network.counts.snapshotReset).toBeGreaterThan(0);
  });

  it('asks for a status by address, or tells why not', async () => {
    const world = await World.start(6, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [Replica, Replica];
    const ask = async (url: string) => {
      const asked = a.transport
        .requestStatusAt(url, world.clock.monotonicMs() + 1_000)
        .catch(String);
      await world.pass(2_000);
      return asked;
    };
    expect(await ask(b.url)).toEqual({ member: b.member, error: 'busy' });
    expect(await ask('https://nobody:1')).toContain('refused');
    network.link(b.url, a.url).set({ cut: true });
    expect(await ask(b.url)).toContain('in time');
  });
});

async function* stream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}
