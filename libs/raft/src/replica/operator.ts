/**
 * Changes of members and of the leader, asked at any replica: done here at the leader, passed on to it
 * elsewhere. While nobody leads, or the asked one no longer does, it is tried again: that it was not done
 * is certain then.
 */
import type { LoopClock } from '@orch/component';
import type { Configuration, MemberId } from '../core/types.js';
import { LEADER_RETRY_MS } from '../limits.js';
import { MembershipError, type MembershipFailure } from '../replicated-log.js';
import type { OperatorAnswer, OperatorRequest, Transport } from '../transport/transport.js';

export interface OperatorParts {
  readonly self: MemberId;
  readonly transport: Transport | undefined;
  readonly clock: LoopClock;
  readonly leader: () => MemberId | undefined;
  /** Here, at the leader. Rejects with MembershipError. */
  readonly perform: (request: OperatorRequest, deadlineMs: number) => Promise<Configuration>;
}

/** Rejects with MembershipError. */
export async function operate(
  parts: OperatorParts,
  request: OperatorRequest,
  deadlineMs: number,
): Promise<Configuration> {
  for (;;) {
    const answer = await attempt(parts, request, deadlineMs);
    if (answer.kind === 'done') return answer.configuration;
    const { code, message } = answer;
    const nowMs = parts.clock.monotonicMs();
    if (code !== 'NotLeader' || nowMs + LEADER_RETRY_MS > deadlineMs) {
      throw new MembershipError(code as MembershipFailure, message);
    }
    await new Promise<void>((resolve) => parts.clock.setTimer(LEADER_RETRY_MS, resolve));
  }
}

/** The answer to a member that has passed the request on. Never rejects. */
export async function answerOperator(
  parts: OperatorParts,
  request: OperatorRequest,
  deadlineMs: number,
): Promise<OperatorAnswer> {
  try {
    return { kind: 'done', configuration: await parts.perform(request, deadlineMs) };
  } catch (error) {
    if (!(error instanceof MembershipError)) throw error;
    return { kind: 'failed', code: error.code, message: error.message };
  }
}

async function attempt(
  parts: OperatorParts,
  request: OperatorRequest,
  deadlineMs: number,
): Promise<OperatorAnswer> {
  const leader = parts.leader();
  if (leader === parts.self) return answerOperator(parts, request, deadlineMs);
  if (leader === undefined || !parts.transport) {
    return { kind: 'failed', code: 'NotLeader', message: 'no leader is known' };
  }
  try {
    return await parts.transport.requestOperation(leader, request, deadlineMs);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      kind: 'failed',
      code: 'OutcomeUnknown',
      message: `the leader has not answered (${reason}): look at the members, then try again`,
    };
  }
}
