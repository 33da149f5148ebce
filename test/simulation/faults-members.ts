/** What operators do, in good order and in bad moments. */
import type { FaultInjector } from './fault-injector.js';

export const memberFaults = {
  transfer,
  grow,
  shrink,
  shrinkApart,
  rivals,
  interregnum,
  outcast,
  backup,
};

/** How long a change of voters is waited for. */
const jointMsMax = 300;

function transfer(all: FaultInjector): boolean {
  void all.operator.transfer();
  return true;
}

function grow(all: FaultInjector): boolean {
  const { voters = [], learners = [] } = all.operator.configuration() ?? {};
  if (voters.length + learners.length >= 6 || all.operator.isBusy) return false;
  void all.operator.grow();
  return true;
}

function shrink(all: FaultInjector): boolean {
  if (all.operator.isBusy) return false;
  void all.operator.shrink();
  return true;
}

/** A hasty operator asks a leader that is cut off for a cluster of those whom it still reaches. */
function shrinkApart(all: FaultInjector): boolean {
  const { voters = [] } = all.operator.configuration() ?? {};
  const leader = all.leader();
  if (voters.length < 4 || !leader || all.operator.lost.size > 0) return false;
  const near = [leader.identity.peerUrl];
  near.push(all.random.pick(all.urls().filter((url) => url !== near[0])));
  const far = all.urls().filter((url) => !near.includes(url));
  all.world.network.partition([near, far]);
  all.healAfter(all.random.magnitude(500, 5_000));
  const names = voters.filter(({ peerUrl }) => far.includes(peerUrl)).map(({ name }) => name);
  void all.operator.removeAtOnce(leader, names.slice(0, voters.length - 3));
  return true;
}

/** A leader that is cut off is asked to change the configuration, and so is the one that the others elect. */
function rivals(all: FaultInjector): boolean {
  const { operator, world } = all;
  const leader = all.leader();
  if (world.nodes.length < 3 || !leader || operator.isBusy || world.truth.onNextLeader) {
    return false;
  }
  const { electionMs } = world.tuning.replica;
  all.isolate(leader, 'both');
  all.healAfter(electionMs * all.random.between(2, 6));
  all.after(electionMs * all.random.magnitude(0.02, 1.5), () => void operator.readdress(leader));
  world.truth.onNextLeader = (member) => {
    const next = world.nodes.find(({ name }) => name === member);
    if (!next) return;
    all.after(all.random.magnitude(1, 100), () => void operator.readdress(next));
  };
  return true;
}

/** The leader goes while voters are being changed. */
function interregnum(all: FaultInjector): boolean {
  const { operator, world } = all;
  if (world.nodes.length < 3 || operator.isBusy) return false;
  void operator.changeVoters();
  const untilMs = world.loop.nowMs + jointMsMax;
  const isCrash = all.random.chance(0.5);
  const look = () => {
    const leader = all.leader();
    if (leader?.log?.status().configuration.outgoing) {
      world.trace(`the leader ${leader.name} goes`);
      if (isCrash) all.crash(leader, all.random.chance(0.5));
      else {
        all.isolate(leader, 'both');
        all.healAfter(all.lasts(300, 5_000));
      }
    } else if (world.loop.nowMs < untilMs) all.after(all.random.between(0.3, 1), look);
  };
  look();
  return true;
}

/** Who stands for election on request is cut off at once, removed, and back before that is forgotten. */
function outcast(all: FaultInjector): boolean {
  const { operator, world } = all;
  const target = all.follower();
  if (!target || !all.mayHarm(target) || world.truth.onNextCandidate) return false;
  world.truth.onNextCandidate = (member) => {
    const candidate = world.nodes.find(({ name }) => name === member);
    if (!candidate || all.stopped || !all.mayHarm(candidate)) return;
    all.isolate(candidate, 'both');
    operator.lost.add(candidate);
    void operator.replace(candidate, () => world.network.heal());
  };
  void operator.transfer(target);
  return true;
}

/** A snapshot is saved: in the end another cluster is made of the last one. */
function backup(all: FaultInjector): boolean {
  const node = all.running();
  if (!node?.store) return false;
  void all.operator.backUp(node);
  return true;
}
