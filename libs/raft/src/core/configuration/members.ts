/** Small questions about a configuration. */
import type { Configuration, Member, MemberId } from '../types.js';

/** All members, each once: voters, outgoing voters, learners. */
export function membersOf({ voters, learners, outgoing = [] }: Configuration): readonly Member[] {
  const members = new Map<MemberId, Member>();
  for (const member of [...outgoing, ...learners, ...voters]) members.set(member.id, member);
  return [...members.values()];
}
