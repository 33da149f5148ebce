/** Staged: reads that must not be stale. */
import { noteList, type Scenario, steadyTuning } from './scenario.js';
import type { SimNode } from './sim-node.js';
import type { World } from './world.js';

export const readScenarios: readonly Scenario[] = [
  {
    name: 'lease-round-before-own-term',
    found:
      'with lease reads, a new leader served readers before an entry of its term was committed: stale reads',
    memberCount: 3,
    tuning: { ...steadyTuning, replica: { ...steadyTuning.replica, leaseReads: true } },
    async play({ world, until }) {
      const { nodes, network, truth, loop } = world;
      for (const node of nodes) void node.start();
      const commitOf = (node: SimNode) => node.log?.status().commitIndex ?? 0;
      let leader: SimNode | undefined;
      await until('the others do not know yet what the leader has committed', () => {
        leader = nodes.find(({ leads }) => leads);
        if (!leader || truth.revision < 10) return false;
        const committed = commitOf(leader);
        return nodes.every((node) => node === leader || commitOf(node) < committed);
      });
      const others = nodes.filter((node) => node !== leader);
      const urls = nodes.map(({ identity }) => identity.peerUrl);
      network.isolate(leader!.identity.peerUrl, urls, 'both');
      // Heartbeats are acknowledged, and entries are not: no entry of the new term is committed for
      // a while.
      let elected = false;
      truth.onNextLeader = () => {
        elected = true;
        for (const { disk } of others)
          Object.assign(disk.faults, { slowSyncRate: 1, slowSyncMs: [1_500, 1_500] });
      };
      await until('another leads', () => elected);
      const fromMs = loop.nowMs;
      await until('some have tried to read', () => loop.nowMs > fromMs + 1_000);
      for (const { disk } of others) disk.faults.slowSyncRate = 0;
      network.heal();
    },
  },
  {
    name: 'reader-joins-running-round',
    found:
      'a reader was served by a round that began before its arrival, while another leader had committed entries: a stale read',
    memberCount: 5,
    async play({ world, until }) {
      const { nodes, network, truth } = world;
      for (const node of nodes) void node.start();
      let leader: SimNode | undefined;
      await until('there is a leader', () => {
        leader = nodes.find(({ leads }) => leads);
        return leader !== undefined;
      });
      // With readers of its own it would send all of them one after the other.
      const companion = nodes.find((node) => node !== leader)!;
      companion.isApart = true;
      await until('no client waits for it', after(world, 500));
      await until(
        'nothing is in flight',
        () => nodes.every(hasAll(leader!)) && hasHeardAll(leader!),
      );
      const others = nodes.filter((node) => node !== leader && node !== companion);
      const successor = others[0]!;
      const clog = (from: SimNode, to: SimNode, clogged: boolean) =>
        network.link(from.identity.peerUrl, to.identity.peerUrl).set({ clogged });
      clog(leader!, successor, true);
      const { log, clock } = leader!;
      const { voters } = log!.status().configuration;
      const { id } = voters.find(({ name }) => name === successor.name)!;
      // Whether it ever hears how that ended does not matter here.
      log!.transferLeadership(id, clock.monotonicMs() + 1_000).catch(() => undefined);
      await until('it hands over, and its word for that is held', after(world, 4));
      for (const other of others) {
        clog(other, leader!, true);
        clog(other, companion, true);
      }
      void noteList(world, leader!, { kind: 'quorum' });
      await until('a round was acknowledged, and most responses are held', after(world, 4));
      let elected = false;
      truth.onNextLeader = () => {
        elected = true;
      };
      clog(leader!, successor, false);
      await until('another leads', () => elected);
      await until('it has committed a write', writeAfter(world));
      let answered = false;
      void noteList(world, companion, { kind: 'quorum' }).then(() => {
        answered = true;
      });
      await until('another reader has sent a request to the old leader', after(world, 4));
      for (const other of others) if (other !== successor) clog(other, leader!, false);
      await until('the round is over', after(world, 10));
      clog(successor, leader!, false);
      for (const other of others) clog(other, companion, false);
      await until('the reader got a result', () => answered);
    },
  },
  {
    name: 'read-context-reused',
    found:
      'the response to a request from before a write counted for a reader that arrived after it: a stale read',
    memberCount: 3,
    // Long enough without a leader's word for a reader to give up.
    tuning: { ...steadyTuning, replica: { ...steadyTuning.replica, electionMs: 20_000 } },
    async play({ world, until }) {
      const { nodes, network, truth } = world;
      for (const node of nodes) void node.start();
      const isReady = ({ store, log }: SimNode) => store?.status().ready && log !== undefined;
      await until('there is work', () => truth.revision > 10 && nodes.every(isReady));
      const leader = nodes.find(({ leads }) => leads)!;
      const follower = nodes.find((node) => node !== leader)!;
      follower.isApart = true;
      await until('no client waits for it', after(world, 1_000));
      const link = network.link(leader.identity.peerUrl, follower.identity.peerUrl);
      link.set({ clogged: true });
      void noteList(world, follower, { kind: 'quorum' });
      await until('the response to its request was lost', after(world, 10_100));
      await until('a write was acknowledged', writeAfter(world));
      let answered = false;
      void noteList(world, follower, { kind: 'quorum' }).then(() => {
        answered = true;
      });
      await until('the second question is on its way', after(world, 2));
      link.set({ clogged: false });
      await until('the second read got a result', () => answered);
    },
  },
  {
    name: 'sole-voter-gets-company',
    found:
      'planted: a sole voter that got two more continued to serve reads at an index of its own: stale reads',
    memberCount: 1,
    async play({ world, operator, until }) {
      const { network, truth } = world;
      const [first] = world.nodes as [SimNode];
      void first.start();
      await until('it works alone', () => first.leads && truth.revision > 5);
      let grown = false;
      void operator
        .addVoter()
        .then(() => operator.addVoter())
        .then(() => {
          grown = true;
        });
      await until('two more vote', () => grown && operator.configuration()?.voters.length === 3);
      const urls = world.nodes.map(({ identity }) => identity.peerUrl);
      network.isolate(first.identity.peerUrl, urls, 'both');
      await until('another leads', () => world.nodes.some((node) => node !== first && node.leads));
      first.isApart = true;
      await until('it has committed a write', writeAfter(world));
      void noteList(world, first, { kind: 'quorum' });
      await until('it has tried to serve a read', after(world, 1_000));
      network.heal();
      first.isApart = false;
    },
  },
  {
    name: 'sole-voter-starts-again',
    found:
      'planted: a sole voter served reads after a start before an entry of its term was committed: stale reads',
    memberCount: 1,
    async play({ world, until }) {
      const { truth } = world;
      const [node] = world.nodes as [SimNode];
      void node.start();
      await until('it works', () => node.leads && truth.revision > 20);
      await until('a write was acknowledged', writeAfter(world));
      node.crash({ machine: false });
      Object.assign(node.disk.faults, { slowSyncRate: 1, slowSyncMs: [800, 800] });
      void node.start();
      await until('it leads again', () => node.leads);
      let answered = false;
      void noteList(world, node, { kind: 'quorum' }).then(() => {
        answered = true;
      });
      await until('the read got a result', () => answered);
      node.disk.faults.slowSyncRate = 0;
    },
  },
];

/** It has the whole log of `leader`, and knows that all of it is committed. */
function hasAll(leader: SimNode): (node: SimNode) => boolean {
  return ({ log }) => {
    const { lastIndex, commitIndex } = log?.status() ?? { lastIndex: 0, commitIndex: 0 };
    return lastIndex === commitIndex && lastIndex === leader.log!.status().lastIndex;
  };
}

/**
 * The leader knows that every other member has everything, so that it can hand over immediately.
 */
function hasHeardAll({ log }: SimNode): boolean {
  const { lastIndex, progress } = log!.status();
  return progress.every(({ matchIndex }) => matchIndex === lastIndex);
}

/** So long from now on. */
function after({ loop }: World, ms: number): () => boolean {
  const fromMs = loop.nowMs;
  return () => loop.nowMs > fromMs + ms;
}

/** A write that begins from now on changed something and was acknowledged in an earlier step. */
function writeAfter({ loop, notes, truth }: World): () => boolean {
  const { stepCount } = loop;
  const { revision } = truth;
  return () =>
    notes.writes.some(({ startedAt, endedAt, outcome }) => {
      const isDone = startedAt >= stepCount && endedAt !== undefined && endedAt < loop.stepCount;
      return isDone && outcome.kind === 'applied' && outcome.revision > revision;
    });
}
