/**
 * Membership changes and leadership transfers, requested at any replica: performed at the leader,
 * forwarded to it elsewhere. Without a leader, or when the receiver is no longer the leader, the
 * request is retried: it has certainly not been performed.
 */
import type { LoopClock } from '@orch/component';
import type { Configuration, MemberId } from '../../core/types.js';
import { leaderRetryMs } from '../../limits.js';
import { MembershipError, type MembershipFailure } from '../../replicated-log.js';
import type { OperatorAnswer, OperatorRequest, Transport } from '../../transport/transport.js';

export interface OperatorDependencies {
  readonly self: MemberId;
  readonly transport: Transport | undefined;
  readonly clock: LoopClock;
  readonly leader: () => MemberId | undefined;
  /** Here, at the leader. Rejects with MembershipError. */
  readonly perform: (request: OperatorRequest, deadlineMs: number) => Promise<Configuration>;
}

/** Rejects with MembershipError. */
export async function operate(
  parts: OperatorDependencies,
  request: OperatorRequest,
  deadlineMs: number,
): Promise<Configuration> {
  for (;;) {
    const answer = await attempt(parts, request, deadlineMs);
    if (answer.kind === 'done') return answer.configuration;
    const { code, message } = answer;
    const nowMs = parts.clock.monotonicMs();
    if (code !== 'NotLeader' || nowMs + leaderRetryMs > deadlineMs) {
      throw new MembershipError(code as MembershipFailure, message);
    }
    await new Promise<void>((resolve) => parts.clock.setTimer(leaderRetryMs, resolve));
  }
}

/** The response to a member that forwarded the request. Never rejects. */
export async function handleOperatorRequest(
  parts: OperatorDependencies,
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
  parts: OperatorDependencies,
  request: OperatorRequest,
  deadlineMs: number,
): Promise<OperatorAnswer> {
  const leader = parts.leader();
  if (leader === parts.self) return handleOperatorRequest(parts, request, deadlineMs);
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
      message: `the leader has not responded (${reason}): check the members, then retry`,
    };
  }
}
