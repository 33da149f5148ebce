/**
 * What a change of membership makes of a configuration. Voters change by joint consensus: the joint
 * configuration comes first, and once it is committed the one that `leaveJoint` makes of it.
 * Learners and addresses change in one step, since no majority depends on them.
 */
import { invariant } from '../invariant.js';
import type { Configuration, Member, MembershipChange, MembershipErrorCode } from '../types.js';

export interface ChangeRefusal {
  readonly code: MembershipErrorCode;
  readonly message: string;
}

export type PlannedChange =
  | { readonly next: Configuration; readonly refusal?: undefined }
  | { readonly refusal: ChangeRefusal };

/** `configuration` must not be joint. */
export function planChange(configuration: Configuration, change: MembershipChange): PlannedChange {
  invariant(configuration.outgoing === undefined, 'a joint configuration is changed');
  const planned = plan(configuration, change);
  if (!planned.refusal) checkPlanned(configuration, planned.next);
  return planned;
}

/** Voters change by one at most, and only through a joint configuration. */
function checkPlanned({ voters }: Configuration, next: Configuration): void {
  const addedCount = next.voters.length - voters.length;
  invariant(next.voters.length > 0, 'a planned configuration has no voters');
  invariant(Math.abs(addedCount) <= 1, 'a change adds or removes several voters');
  invariant(
    (addedCount !== 0) === (next.outgoing !== undefined),
    'a change of voters is not joint, or another change is',
  );
  invariant(
    next.outgoing === undefined || next.outgoing === voters,
    'a joint configuration leaves other voters than the present ones',
  );
}

function plan(configuration: Configuration, change: MembershipChange): PlannedChange {
  switch (change.kind) {
    case 'addLearner':
      return addLearner(configuration, change.member);
    case 'promote':
      return promote(configuration, change.id);
    case 'remove':
      return remove(configuration, change.id);
    case 'update':
      return update(configuration, change.member);
  }
}

/** The configuration after a joint one. */
export function leaveJoint({ voters, learners, outgoing }: Configuration): Configuration {
  invariant(outgoing !== undefined, 'a configuration that is not joint is left');
  invariant(voters.length > 0, 'a joint configuration leaves no voters');
  return { voters, learners };
}

function addLearner(configuration: Configuration, member: Member): PlannedChange {
  const taken = [...configuration.voters, ...configuration.learners].find(
    (other) => other.id === member.id || clashes(other, member),
  );
  if (taken) return refuse('DuplicateMember', describeClash(taken, member));
  return {
    next: { voters: configuration.voters, learners: [...configuration.learners, member] },
  };
}

function promote({ voters, learners }: Configuration, id: string): PlannedChange {
  const learner = learners.find((member) => member.id === id);
  if (!learner) {
    return voters.some((member) => member.id === id)
      ? refuse('DuplicateMember', `member ${id} is a voter already`)
      : unknown(id);
  }
  return {
    next: {
      voters: [...voters, learner],
      learners: learners.filter((member) => member.id !== id),
      outgoing: voters,
    },
  };
}

function remove({ voters, learners }: Configuration, id: string): PlannedChange {
  if (learners.some((member) => member.id === id)) {
    return { next: { voters, learners: learners.filter((member) => member.id !== id) } };
  }
  if (!voters.some((member) => member.id === id)) return unknown(id);
  if (voters.length === 1) return refuse('LastVoter', `member ${id} is the only voter`);
  return {
    next: { voters: voters.filter((member) => member.id !== id), learners, outgoing: voters },
  };
}

function update({ voters, learners }: Configuration, member: Member): PlannedChange {
  const all = [...voters, ...learners];
  if (!all.some((other) => other.id === member.id)) return unknown(member.id);
  const taken = all.find((other) => other.id !== member.id && clashes(other, member));
  if (taken) return refuse('DuplicateMember', describeClash(taken, member));
  const replace = (other: Member): Member => (other.id === member.id ? member : other);
  return { next: { voters: voters.map(replace), learners: learners.map(replace) } };
}

function clashes(one: Member, other: Member): boolean {
  return one.name === other.name || one.peerUrl === other.peerUrl;
}

function describeClash(taken: Member, member: Member): string {
  if (taken.id === member.id) return `id ${member.id} is taken by member ${taken.name}`;
  const what = taken.name === member.name ? `name ${member.name}` : `peer URL ${member.peerUrl}`;
  return `${what} is taken by member ${taken.id}`;
}

function unknown(id: string): PlannedChange {
  return refuse('UnknownMember', `member ${id} is not in the cluster`);
}

function refuse(code: MembershipErrorCode, message: string): PlannedChange {
  return { refusal: { code, message } };
}
