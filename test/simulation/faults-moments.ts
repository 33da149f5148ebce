/** Faults that wait for their moment: each leads where chance alone would hardly ever come. */
import type { FaultContext } from './fault-context.js';
import { harmState } from './faults-disk.js';
import type { SimNode } from './sim-node.js';

const exileMsMax = 8_000;

export const momentFaults = {
  coup,
  ambush,
  succession,
  learnersApart,
  alternation,
  deposed,
  afterglow,
  standstill,
  mute,
  exile,
  incapable,
};

/** The leader stops; its successor is isolated immediately, and all others lose unsynced data. */
function coup(context: FaultContext): boolean {
  const { nodes, truth } = context.world;
  if (nodes.length < 3 || truth.onNextLeader) return false;
  const before = context.leader();
  before?.crash({ machine: false });
  if (before) context.restartLater(before, context.random.magnitude(1, 50));
  truth.onNextLeader = (member) => {
    const leader = nodes.find(({ name }) => name === member)!;
    context.after(context.random.magnitude(0.1, 10), () => strike(context, leader));
  };
  return true;
}

/** The same for the current leader. */
function ambush(context: FaultContext): boolean {
  const leader = context.leader();
  if (context.world.nodes.length < 3 || !leader) return false;
  strike(context, leader);
  return true;
}

function strike(context: FaultContext, leader: SimNode): void {
  context.world.trace(`strike against ${leader.name}`);
  context.isolate(leader, context.random.pick(['both', 'out']));
  context.healAfter(context.lasts(300, 5_000));
  for (const node of context.world.nodes) {
    if (node === leader || !node.isRunning) continue;
    node.crash({ machine: true });
    context.restartLater(node, context.random.magnitude(1, 50));
  }
}

/** One replica falls behind; it returns when the leader stops. */
function succession(context: FaultContext): boolean {
  const { network, nodes } = context.world;
  const behind = context.random.pick(nodes);
  if (nodes.length < 3 || behind.leads) return false;
  context.isolate(behind, 'both');
  context.after(context.random.magnitude(50, 2_000), () => {
    network.heal();
    for (const node of nodes) if (node.leads) context.isolate(node, 'both');
    context.healAfter(context.lasts(300, 5_000));
  });
  return true;
}

/** The leader keeps only learners. */
function learnersApart(context: FaultContext): boolean {
  const { learners = [] } = context.operator.configuration() ?? {};
  const leader = context.leader();
  if (learners.length === 0 || !leader) return false;
  const near = [leader.identity.peerUrl, ...learners.map(({ peerUrl }) => peerUrl)];
  context.world.network.partition([near, context.urls().filter((url) => !near.includes(url))]);
  context.healAfter(context.lasts(100, 30_000));
  return true;
}

/**
 * Each elected leader is isolated during its work, when the one before returns: logs fork
 * repeatedly.
 */
function alternation(context: FaultContext): boolean {
  const { network, nodes, truth } = context.world;
  const leader = context.leader();
  if (nodes.length < 3 || !leader || truth.onNextLeader) return false;
  let left = 2 + context.random.integer(5);
  const cutOff = (node: SimNode) => {
    network.heal();
    left -= 1;
    if (left === 0) return;
    context.isolate(node, 'both');
    truth.onNextLeader = (member) => {
      const next = nodes.find(({ name }) => name === member)!;
      context.after(context.random.magnitude(0.2, 20), () => cutOff(next));
    };
  };
  cutOff(leader);
  return true;
}

/** A leader continues alone for a while, and ends when it learns of its successor. */
function deposed(context: FaultContext): boolean {
  const { nodes, truth, network } = context.world;
  const leader = context.leader();
  if (nodes.length < 3 || !leader || truth.onNextLeader) return false;
  context.isolate(leader, 'both');
  truth.onNextLeader = () => {
    leader.onNextFollowing = () => {
      context.after(context.random.magnitude(0.2, 100), () => {
        if (leader.isRunning) context.crash(leader, context.random.chance(0.5));
      });
    };
    context.after(context.random.magnitude(1, 500), () => network.heal());
  };
  return true;
}

/** Messages to a leader wait in flight until the others have elected another. */
function afterglow(context: FaultContext): boolean {
  const { network, nodes, truth, tuning } = context.world;
  const leader = context.leader();
  if (nodes.length < 3 || !leader || truth.onNextLeader) return false;
  const { peerUrl } = leader.identity;
  const inward = (clogged: boolean) => {
    for (const url of context.urls())
      if (url !== peerUrl) network.link(url, peerUrl).set({ clogged });
  };
  inward(true);
  context.after(tuning.replica.heartbeatMs * context.random.between(1.5, 4), () => {
    context.isolate(leader, 'out');
    truth.onNextLeader = () => {
      const news = truth.revision + 1;
      const goOn = () => context.after(context.random.magnitude(2, 60), () => inward(false));
      whenRevision(context, news, tuning.replica.electionMs, goOn);
    };
    context.healAfter(tuning.replica.electionMs * context.random.between(3, 6));
  });
  return true;
}

/**
 * Messages of the leader to one follower wait in flight until there are entries that the follower
 * does not have.
 */
function standstill(context: FaultContext): boolean {
  const { network, truth, tuning } = context.world;
  const leader = context.leader();
  const behind = context.follower();
  if (!leader || !behind) return false;
  const link = network.link(leader.identity.peerUrl, behind.identity.peerUrl);
  link.set({ clogged: true });
  const news = truth.revision + 1 + context.random.integer(8);
  const forMs = tuning.replica.electionMs * context.random.between(0.5, 3);
  whenRevision(context, news, forMs, () => {
    context.after(context.random.magnitude(1, 100), () => link.set({ clogged: false }));
  });
  return true;
}

/** Once a replica has applied `revision`, or the time is over. */
function whenRevision(
  context: FaultContext,
  revision: number,
  forMs: number,
  work: () => void,
): void {
  const { loop, truth } = context.world;
  const untilMs = loop.nowMs + forMs;
  const look = () => {
    if (truth.revision >= revision || loop.nowMs >= untilMs) work();
    else context.after(5, look);
  };
  look();
}

/**
 * Responses of a follower are lost until the leader has compacted its log, and then its calls
 * break.
 */
function mute(context: FaultContext): boolean {
  const { network, nodes, tuning } = context.world;
  const follower = context.follower();
  if (nodes.length < 3 || !follower) return false;
  context.isolate(follower, 'out');
  context.after(tuning.replica.electionMs * context.random.between(0.5, 4), () => {
    network.heal();
    network.setAll({ resetRate: 0.3 });
    context.after(context.random.magnitude(10, 300), () => network.setAll({ resetRate: 0 }));
  });
  return true;
}

/** One is away until the others have forgotten where it stopped, in the log and in the history. */
function exile(context: FaultContext): boolean {
  const { network, nodes, loop } = context.world;
  const node = context.follower();
  if (nodes.length < 3 || !node) return false;
  context.isolate(node, 'both');
  const untilMs = loop.nowMs + exileMsMax;
  const look = () => {
    const leader = context.leader();
    const isForgotten =
      leader !== undefined &&
      node.store !== undefined &&
      node.log !== undefined &&
      leader.log!.status().firstIndex > node.log.status().lastIndex + 1 &&
      leader.store!.status().compactedRevision > node.store.revision();
    if (isForgotten || !node.store || loop.nowMs >= untilMs) network.heal();
    else context.after(50, look);
  };
  look();
  return true;
}

/** Only one whose state is damaged has all entries: it has to lead, and to hand over. */
function incapable(context: FaultContext): boolean {
  const { network, tuning } = context.world;
  const { electionMs } = tuning.replica;
  const voters = context.world.nodes.filter((node) => context.operator.isVoter(node));
  const node = context.follower();
  const isThree = voters.length === 3 && voters.every(({ store }) => store);
  if (!isThree || !node || !context.mayHarm(node)) return false;
  const [gone, behind] = voters
    .filter((other) => other !== node)
    .sort((one) => (one.leads ? -1 : 1));
  context.isolate(behind!, 'both');
  context.after(context.random.magnitude(20, 500), () => {
    if (!node.isRunning || !gone!.isRunning || !context.mayHarm(node)) return;
    harmState(context, node);
    gone!.crash({ machine: false });
    network.heal();
    context.restartLater(node, context.random.magnitude(1, 50));
    context.restartLater(gone!, electionMs * context.random.between(6, 20));
  });
  return true;
}
