/** What operators do, in good order and in bad moments. */
import type { FaultContext } from './fault-context.js';

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

function transfer(context: FaultContext): boolean {
  void context.operator.transfer();
  return true;
}

function grow(context: FaultContext): boolean {
  const { voters = [], learners = [] } = context.operator.configuration() ?? {};
  if (voters.length + learners.length >= 6 || context.operator.isBusy) return false;
  void context.operator.grow();
  return true;
}

function shrink(context: FaultContext): boolean {
  if (context.operator.isBusy) return false;
  void context.operator.shrink();
  return true;
}

/**
 * A hasty operator requests, at an isolated leader, a cluster of the members that it still reaches.
 */
function shrinkApart(context: FaultContext): boolean {
  const { voters = [] } = context.operator.configuration() ?? {};
  const leader = context.leader();
  if (voters.length < 4 || !leader || context.operator.lost.size > 0) return false;
  const near = [leader.identity.peerUrl];
  near.push(context.random.pick(context.urls().filter((url) => url !== near[0])));
  const far = context.urls().filter((url) => !near.includes(url));
  context.world.network.partition([near, far]);
  context.healAfter(context.random.magnitude(500, 5_000));
  const names = voters.filter(({ peerUrl }) => far.includes(peerUrl)).map(({ name }) => name);
  void context.operator.removeAtOnce(leader, names.slice(0, voters.length - 3));
  return true;
}

/** An isolated leader gets a membership change, and so does the leader that the others elect. */
function rivals(context: FaultContext): boolean {
  const { operator, world } = context;
  const leader = context.leader();
  if (world.nodes.length < 3 || !leader || operator.isBusy || world.truth.onNextLeader) {
    return false;
  }
  const { electionMs } = world.tuning.replica;
  context.isolate(leader, 'both');
  context.healAfter(electionMs * context.random.between(2, 6));
  context.after(
    electionMs * context.random.magnitude(0.02, 1.5),
    () => void operator.readdress(leader),
  );
  world.truth.onNextLeader = (member) => {
    const next = world.nodes.find(({ name }) => name === member);
    if (!next) return;
    context.after(context.random.magnitude(1, 100), () => void operator.readdress(next));
  };
  return true;
}

/** The leader goes while voters are being changed. */
function interregnum(context: FaultContext): boolean {
  const { operator, world } = context;
  if (world.nodes.length < 3 || operator.isBusy) return false;
  void operator.changeVoters();
  const untilMs = world.loop.nowMs + jointMsMax;
  const isCrash = context.random.chance(0.5);
  const look = () => {
    const leader = context.leader();
    if (leader?.log?.status().configuration.outgoing) {
      world.trace(`the leader ${leader.name} goes`);
      if (isCrash) context.crash(leader, context.random.chance(0.5));
      else {
        context.isolate(leader, 'both');
        context.healAfter(context.lasts(300, 5_000));
      }
    } else if (world.loop.nowMs < untilMs) context.after(context.random.between(0.3, 1), look);
  };
  look();
  return true;
}

/** The target of a transfer is isolated, removed, and returns before that is compacted. */
function outcast(context: FaultContext): boolean {
  const { operator, world } = context;
  const target = context.follower();
  if (!target || !context.mayHarm(target) || world.truth.onNextCandidate) return false;
  world.truth.onNextCandidate = (member) => {
    const candidate = world.nodes.find(({ name }) => name === member);
    if (!candidate || context.stopped || !context.mayHarm(candidate)) return;
    context.isolate(candidate, 'both');
    operator.lost.add(candidate);
    void operator.replace(candidate, () => world.network.heal());
  };
  void operator.transfer(target);
  return true;
}

/** Saves a backup: at the end another cluster is restored from the last one. */
function backup(context: FaultContext): boolean {
  const node = context.running();
  if (!node?.store) return false;
  void context.operator.backUp(node);
  return true;
}
