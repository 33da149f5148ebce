/** Small questions about a configuration. */
import type { Configuration, Member, MemberId } from '../core/types.js';

/** Everybody who takes part in any way, each once. */
export function membersOf({ voters, learners, outgoing = [] }: Configuration): readonly Member[] {
  const members = new Map<MemberId, Member>();
  for (const member of [...outgoing, ...learners, ...voters]) members.set(member.id, member);
  return [...members.values()];
}
