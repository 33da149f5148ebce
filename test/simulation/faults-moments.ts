/** Faults that wait for their moment: each leads where chance alone would hardly ever come. */
import type { FaultInjector } from './fault-injector.js';
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

/** The leader goes; who is elected next is cut off at once, and all others lose what is not on disk. */
function coup(all: FaultInjector): boolean {
  const { nodes, truth } = all.world;
  if (nodes.length < 3 || truth.onNextLeader) return false;
  const before = all.leader();
  before?.crash({ machine: false });
  if (before) all.restartLater(before, all.random.magnitude(1, 50));
  truth.onNextLeader = (member) => {
    const leader = nodes.find(({ name }) => name === member)!;
    all.after(all.random.magnitude(0.1, 10), () => strike(all, leader));
  };
  return true;
}

/** The same, of whoever leads now. */
function ambush(all: FaultInjector): boolean {
  const leader = all.leader();
  if (all.world.nodes.length < 3 || !leader) return false;
  strike(all, leader);
  return true;
}

function strike(all: FaultInjector, leader: SimNode): void {
  all.world.trace(`strike against ${leader.name}`);
  all.isolate(leader, all.random.pick(['both', 'out']));
  all.healAfter(all.lasts(300, 5_000));
  for (const node of all.world.nodes) {
    if (node === leader || !node.isRunning) continue;
    node.crash({ machine: true });
    all.restartLater(node, all.random.magnitude(1, 50));
  }
}

/** One falls behind; it comes back when the leader goes. */
function succession(all: FaultInjector): boolean {
  const { network, nodes } = all.world;
  const behind = all.random.pick(nodes);
  if (nodes.length < 3 || behind.leads) return false;
  all.isolate(behind, 'both');
  all.after(all.random.magnitude(50, 2_000), () => {
    network.heal();
    for (const node of nodes) if (node.leads) all.isolate(node, 'both');
    all.healAfter(all.lasts(300, 5_000));
  });
  return true;
}

/** The leader is left with those who have no vote. */
function learnersApart(all: FaultInjector): boolean {
  const { learners = [] } = all.operator.configuration() ?? {};
  const leader = all.leader();
  if (learners.length === 0 || !leader) return false;
  const near = [leader.identity.peerUrl, ...learners.map(({ peerUrl }) => peerUrl)];
  all.world.network.partition([near, all.urls().filter((url) => !near.includes(url))]);
  all.healAfter(all.lasts(100, 30_000));
  return true;
}

/** Whoever is elected is cut off in mid-work, as the one before comes back: logs fork, again and again. */
function alternation(all: FaultInjector): boolean {
  const { network, nodes, truth } = all.world;
  const leader = all.leader();
  if (nodes.length < 3 || !leader || truth.onNextLeader) return false;
  let left = 2 + all.random.integer(5);
  const cutOff = (node: SimNode) => {
    network.heal();
    left -= 1;
    if (left === 0) return;
    all.isolate(node, 'both');
    truth.onNextLeader = (member) => {
      const next = nodes.find(({ name }) => name === member)!;
      all.after(all.random.magnitude(0.2, 20), () => cutOff(next));
    };
  };
  cutOff(leader);
  return true;
}

/** A leader goes on alone for a while, and ends as it learns of its successor. */
function deposed(all: FaultInjector): boolean {
  const { nodes, truth, network } = all.world;
  const leader = all.leader();
  if (nodes.length < 3 || !leader || truth.onNextLeader) return false;
  all.isolate(leader, 'both');
  truth.onNextLeader = () => {
    leader.onNextFollowing = () => {
      all.after(all.random.magnitude(0.2, 100), () => {
        if (leader.isRunning) all.crash(leader, all.random.chance(0.5));
      });
    };
    all.after(all.random.magnitude(1, 500), () => network.heal());
  };
  return true;
}

/** What others have told a leader stands still on its way until they have elected another. */
function afterglow(all: FaultInjector): boolean {
  const { network, nodes, truth, tuning } = all.world;
  const leader = all.leader();
  if (nodes.length < 3 || !leader || truth.onNextLeader) return false;
  const { peerUrl } = leader.identity;
  const inward = (clogged: boolean) => {
    for (const url of all.urls()) if (url !== peerUrl) network.link(url, peerUrl).set({ clogged });
  };
  inward(true);
  all.after(tuning.replica.heartbeatMs * all.random.between(1.5, 4), () => {
    all.isolate(leader, 'out');
    truth.onNextLeader = () => {
      const news = truth.revision + 1;
      const goOn = () => all.after(all.random.magnitude(2, 60), () => inward(false));
      whenRevision(all, news, tuning.replica.electionMs, goOn);
    };
    all.healAfter(tuning.replica.electionMs * all.random.between(3, 6));
  });
  return true;
}

/** What the leader tells one of the others stands still until there is news which that one does not have. */
function standstill(all: FaultInjector): boolean {
  const { network, truth, tuning } = all.world;
  const leader = all.leader();
  const behind = all.follower();
  if (!leader || !behind) return false;
  const link = network.link(leader.identity.peerUrl, behind.identity.peerUrl);
  link.set({ clogged: true });
  const news = truth.revision + 1 + all.random.integer(8);
  const forMs = tuning.replica.electionMs * all.random.between(0.5, 3);
  whenRevision(all, news, forMs, () => {
    all.after(all.random.magnitude(1, 100), () => link.set({ clogged: false }));
  });
  return true;
}

/** Once somebody has applied `revision`, or the time is over. */
function whenRevision(all: FaultInjector, revision: number, forMs: number, work: () => void): void {
  const { loop, truth } = all.world;
  const untilMs = loop.nowMs + forMs;
  const look = () => {
    if (truth.revision >= revision || loop.nowMs >= untilMs) work();
    else all.after(5, look);
  };
  look();
}

/** A follower's answers are lost until the leader has cut its log, and then its calls break. */
function mute(all: FaultInjector): boolean {
  const { network, nodes, tuning } = all.world;
  const follower = all.follower();
  if (nodes.length < 3 || !follower) return false;
  all.isolate(follower, 'out');
  all.after(tuning.replica.electionMs * all.random.between(0.5, 4), () => {
    network.heal();
    network.setAll({ resetRate: 0.3 });
    all.after(all.random.magnitude(10, 300), () => network.setAll({ resetRate: 0 }));
  });
  return true;
}

/** One is away until the others have forgotten where it stopped, in the log and in the history. */
function exile(all: FaultInjector): boolean {
  const { network, nodes, loop } = all.world;
  const node = all.follower();
  if (nodes.length < 3 || !node) return false;
  all.isolate(node, 'both');
  const untilMs = loop.nowMs + exileMsMax;
  const look = () => {
    const leader = all.leader();
    const isForgotten =
      leader !== undefined &&
      node.store !== undefined &&
      node.log !== undefined &&
      leader.log!.status().firstIndex > node.log.status().lastIndex + 1 &&
      leader.store!.status().compactedRevision > node.store.revision();
    if (isForgotten || !node.store || loop.nowMs >= untilMs) network.heal();
    else all.after(50, look);
  };
  look();
  return true;
}

/** Only one whose state is damaged has all entries: it has to lead, and to hand over. */
function incapable(all: FaultInjector): boolean {
  const { network, tuning } = all.world;
  const { electionMs } = tuning.replica;
  const voters = all.world.nodes.filter((node) => all.operator.isVoter(node));
  const node = all.follower();
  const isThree = voters.length === 3 && voters.every(({ store }) => store);
  if (!isThree || !node || !all.mayHarm(node)) return false;
  const [gone, behind] = voters
    .filter((other) => other !== node)
    .sort((one) => (one.leads ? -1 : 1));
  all.isolate(behind!, 'both');
  all.after(all.random.magnitude(20, 500), () => {
    if (!node.isRunning || !gone!.isRunning || !all.mayHarm(node)) return;
    harmState(all, node);
    gone!.crash({ machine: false });
    network.heal();
    all.restartLater(node, all.random.magnitude(1, 50));
    all.restartLater(gone!, electionMs * all.random.between(6, 20));
  });
  return true;
}
