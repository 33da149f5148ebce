/** Staged: members that come, go and note each other. */
import { membersOf } from '@orch/raft';
import { type Scenario, type Stage, steadyTuning } from './scenario.js';
import type { SimNode } from './sim-node.js';

export const memberScenarios: readonly Scenario[] = [
  {
    name: 'disk-fails-while-noting-a-peer',
    found:
      'a replica whose disk failed while it recorded a peer responded, before it ended, that the directory of the peer was wiped: a healthy process ended',
    memberCount: 3,
    async play({ world, until }) {
      const [first, ...others] = world.nodes as [SimNode, ...SimNode[]];
      void first.start();
      await until('the first runs', () => first.store !== undefined);
      first.disk.faults.syncErrorRate = 1;
      for (const node of others) void node.start();
      await until('it fails', () => !first.isRunning);
      first.disk.faults.syncErrorRate = 0;
    },
  },
  {
    name: 'joiner-judges-the-past',
    found:
      'a new member that was still behind responded to a voter that the log adds later that it had been removed: a healthy process ended',
    memberCount: 3,
    tuning: {
      ...steadyTuning,
      replica: { ...steadyTuning.replica, appendEntriesMax: 1, inFlightMessagesMax: 1 },
    },
    async play({ world, operator, until }) {
      const { nodes, network } = world;
      for (const node of nodes) void node.start();
      const leader = () => nodes.find(({ leads }) => leads);
      await until(
        'there is a leader at work',
        () => leader() !== undefined && world.truth.revision > 5,
      );
      let changed = false;
      void operator.readdress(leader()!).then(() => {
        changed = true;
      });
      await until('a configuration without the later member is in the log', () => changed);
      const later = await joined(operator.add(), until);
      const joiner = await joined(operator.add(), until);
      const knowsLater = () =>
        membersOf(joiner.log!.status().configuration).some(({ name }) => name === later.name);
      await until(
        'the new member is in the past',
        () => joiner.store !== undefined && !knowsLater(),
      );
      const link = network.link(leader()!.identity.peerUrl, joiner.identity.peerUrl);
      link.set({ clogged: true });
      later.crash({ machine: false });
      void later.start();
      const fromMs = world.loop.nowMs;
      await until('the two have met', () => world.loop.nowMs > fromMs + 3_000);
      link.set({ clogged: false });
    },
  },
  {
    name: 'configuration-not-rolled-back',
    found:
      'a membership change of an isolated leader stayed in effect there when its entry was truncated: leader again, it removed a member without a request',
    memberCount: 3,
    async play({ world, until }) {
      const { nodes, network, truth } = world;
      for (const node of nodes) void node.start();
      const leader = () => nodes.find(({ leads }) => leads);
      await until('there is a leader at work', () => leader() !== undefined && truth.revision > 5);
      const first = leader()!;
      const idOf = ({ name }: SimNode) =>
        first.log!.status().configuration.voters.find((voter) => voter.name === name)!.id;
      const kept = nodes.find((node) => node !== first)!;
      const [firstId, keptId] = [idOf(first), idOf(kept)];
      const urls = nodes.map(({ identity }) => identity.peerUrl);
      network.isolate(first.identity.peerUrl, urls, 'both');
      const deadlineMs = first.clock.monotonicMs() + 5_000;
      const change = { kind: 'remove', id: keptId } as const;
      first.log!.changeMembership(change, deadlineMs).catch(() => undefined);
      await until('it has begun the change', () => {
        return first.log!.status().configuration.outgoing !== undefined;
      });
      await until('another leads', () => leader() !== undefined && leader() !== first);
      network.heal();
      const { revision } = truth;
      await until('the first one follows', () => (first.store?.revision() ?? 0) > revision);
      const second = leader()!;
      second
        .log!.transferLeadership(firstId, second.clock.monotonicMs() + 5_000)
        .catch(() => undefined);
      await until('it leads again', () => first.leads);
    },
  },
];

async function joined(
  adding: Promise<SimNode | undefined>,
  until: Stage['until'],
): Promise<SimNode> {
  let node: SimNode | undefined;
  void adding.then((added) => {
    node = added;
  });
  await until('a member joins', () => node?.store !== undefined);
  return node!;
}
