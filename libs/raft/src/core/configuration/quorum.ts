/**
 * Majorities. While a configuration is joint, every decision needs a majority of `voters` and one
 * of `outgoing`; learners and strangers count for nothing.
 */
import { minIndex } from '../brands.js';
import { invariant } from '../invariant.js';
import type { Configuration, LogIndex, Member, MemberId } from '../types.js';

export type VoteOutcome = 'won' | 'lost' | 'open';

/** The highest index that a quorum has reached. */
export function quorumIndex(
  configuration: Configuration,
  matchOf: (id: MemberId) => LogIndex,
): LogIndex {
  const index = majorityIndex(configuration.voters, matchOf);
  if (!configuration.outgoing) return index;
  const outgoing = majorityIndex(configuration.outgoing, matchOf);
  return minIndex(outgoing, index);
}

/** Whether the members for which `holds` is true are a quorum. */
export function isQuorum(configuration: Configuration, holds: (id: MemberId) => boolean): boolean {
  return (
    isMajority(configuration.voters, holds) &&
    (!configuration.outgoing || isMajority(configuration.outgoing, holds))
  );
}

/** Outcome of an election with the votes received so far. */
export function voteOutcome(
  configuration: Configuration,
  votes: ReadonlyMap<MemberId, boolean>,
): VoteOutcome {
  if (isQuorum(configuration, (id) => votes.get(id) === true)) return 'won';
  return isQuorum(configuration, (id) => votes.get(id) !== false) ? 'open' : 'lost';
}

export function isMajority(members: readonly Member[], holds: (id: MemberId) => boolean): boolean {
  let count = 0;
  for (const member of members) if (holds(member.id)) count += 1;
  return count * 2 > members.length;
}

function majorityIndex(members: readonly Member[], matchOf: (id: MemberId) => LogIndex): LogIndex {
  invariant(members.length > 0, 'a configuration has no voters');
  const indexes: LogIndex[] = [];
  for (const member of members) indexes.push(matchOf(member.id));
  indexes.sort((left, right) => right - left);
  return indexes[Math.floor(members.length / 2)]!;
}
