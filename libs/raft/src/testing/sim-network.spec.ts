/**
 * Guarantees of the simulated network: the configured faults, the real codec, and one run per seed.
 */

import { describe, expect, it } from 'vitest';
import { asLogIndex, asMemberId, asTerm, noIndex } from '../core/brands.js';
import { entryAfter, follows } from '../core/log/entry-checksum.js';
import type { Entry, LogPoint, SnapshotPoint } from '../core/types.js';
import { range, SimEnd, SimNetworkWorld } from './sim-network-world.js';

describe('a simulated network', () => {
  it('delivers messages in order, once, without faults', async () => {
    const world = await SimNetworkWorld.start(1, 3);
    const { replicas } = world;
    const [a, b, c] = replicas as [SimEnd, SimEnd, SimEnd];
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

  it('injects every configured fault, delivers nothing damaged, and is one run for one seed', async () => {
    const run = async (seed: number) => {
      const world = await SimNetworkWorld.start(seed, 3);
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
      const received = replicas.map(({ contexts, answers, unreachable, damaged }) => ({
        contexts,
        answers,
        unreachable,
        damaged,
      }));
      return { received, counts: network.counts };
    };
    const [first, again, other] = [await run(7), await run(7), await run(8)];
    expect(again).toEqual(first);
    expect(other.received).not.toEqual(first.received);
    const { cut, snapshotReset, entriesDamaged, ...happened } = first.counts;
    expect(Object.entries(happened).filter(([, count]) => count === 0)).toEqual([]);
    expect([cut, snapshotReset, entriesDamaged]).toEqual([0, 0, 0]);
    expect(first.received.some(({ damaged }) => damaged > 0)).toBe(true);
    expect(first.received.some(({ answers }) => answers.includes('r1 wrongCluster'))).toBe(true);
  });

  it('loses, duplicates and reorders at about the configured rate', async () => {
    const world = await SimNetworkWorld.start(3, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [SimEnd, SimEnd];
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
    const world = await SimNetworkWorld.start(5, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [SimEnd, SimEnd];
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

  it('reports a peer that is isolated in one direction only, and reconnects when healed', async () => {
    const world = await SimNetworkWorld.start(9, 3);
    const { network, replicas, urls } = world;
    const [a, b, c] = replicas as [SimEnd, SimEnd, SimEnd];
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
    const { network, urls } = new SimNetworkWorld(1, 5);
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

  it('holds clogged messages, slows to its bandwidth, and delivers in order', async () => {
    const world = await SimNetworkWorld.start(2, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [SimEnd, SimEnd];
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

  it('drops the queue of a peer that reads nothing, reports it once, and continues afterwards', async () => {
    const world = await SimNetworkWorld.start(2, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [SimEnd, SimEnd];
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

  it('reports a crash to peers, and never delivers to or from a dead process', async () => {
    const world = await SimNetworkWorld.start(4, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [SimEnd, SimEnd];
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

  it('damages an entry so that its own checksum detects it, but not that of the frame', async () => {
    const world = await SimNetworkWorld.start(3, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [SimEnd, SimEnd];
    const start: LogPoint = { index: noIndex, term: asTerm(0), checksum: 0 };
    const entry = entryAfter(start, asTerm(1), 'command', Buffer.from('what is wanted'));
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

  it('delivers snapshots completely or reports that they broke off', async () => {
    const world = await SimNetworkWorld.start(6, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [SimEnd, SimEnd];
    const chunks = range(0, 40).map((at) => Buffer.alloc(1_000, at));
    const point: SnapshotPoint = {
      index: asLogIndex(5),
      term: asTerm(1),
      checksum: 9,
      configuration: { voters: [a.member], learners: [] },
    };
    const send = async () => {
      const sent = a.transport
        .sendSnapshot(asMemberId(b.id), asTerm(1), point, stream(chunks))
        .then(
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

  it('requests a status by address, or reports why it cannot', async () => {
    const world = await SimNetworkWorld.start(6, 2);
    const { network, replicas } = world;
    const [a, b] = replicas as [SimEnd, SimEnd];
    const statusAt = async (url: string) => {
      const status = a.transport
        .requestStatusAt(url, world.clock.monotonicMs() + 1_000)
        .catch(String);
      await world.pass(2_000);
      return status;
    };
    expect(await statusAt(b.url)).toEqual({ member: b.member, error: 'busy' });
    expect(await statusAt('https://unknown:1')).toContain('refused');
    network.link(b.url, a.url).set({ cut: true });
    expect(await statusAt(b.url)).toContain('in time');
  });
});

async function* stream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}
