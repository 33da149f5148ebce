/** How the other members are, each by its own word or why there is none. */
import type { Member } from '../../core/types.js';
import type { ReplicaStatus } from '../../replicated-log.js';
import type { Transport } from '../../transport/transport.js';

/** Never rejects. */
export function requestStatuses(
  members: readonly Member[],
  transport: Transport | undefined,
  deadlineMs: number,
): Promise<ReplicaStatus[]> {
  const answers = members.map(async (member): Promise<ReplicaStatus> => {
    try {
      if (!transport) throw new Error('this replica has no network');
      const { status, facts } = await transport.requestStatus(member.id, deadlineMs);
      return { member, ...(status && { status }), ...(facts && { facts }) };
    } catch (error) {
      return { member, error: error instanceof Error ? error.message : String(error) };
    }
  });
  return Promise.all(answers);
}
