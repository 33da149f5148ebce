/** Between the program's types and those of the wire, where the two differ. */
import type { Configuration, Message, SnapshotPoint, Term } from '../core/types.js';
import type { LogStatus, ReplicaStatus } from '../replicated-log.js';
import type * as wire from './generated/wire.js';
import type { Greeting, OperatorAnswer, OperatorRequest } from './transport.js';
import { WireError } from './wire-reader.js';

/** The wire's numbers become indexes: what they say is for consensus to judge. */
export function messagesFromWire(messages: readonly wire.Message[]): readonly Message[] {
  return messages as readonly Message[];
}

export function configurationToWire(configuration: Configuration): wire.Configuration {
  return { ...configuration, outgoing: configuration.outgoing ?? [] };
}

export function configurationFromWire(configuration: wire.Configuration): Configuration {
  const { voters, learners, outgoing } = configuration;
  return outgoing.length > 0 ? { voters, learners, outgoing } : { voters, learners };
}

export function snapshotHeaderToWire(
  greeting: Greeting,
  term: Term,
  point: SnapshotPoint,
): wire.SnapshotHeader {
  return { greeting, term, point, configuration: configurationToWire(point.configuration) };
}

export function snapshotPointFromWire(header: wire.SnapshotHeader): SnapshotPoint {
  const point = { ...header.point, configuration: configurationFromWire(header.configuration) };
  return point as SnapshotPoint;
}

export function replicaStatusToWire({ member, status, facts, error }: ReplicaStatus) {
  const named = Object.entries(facts ?? {}).map(([name, value]) =>
    typeof value === 'number' ? { name, number: value } : { name, text: value },
  );
  return {
    member,
    status: status && { ...status, configuration: configurationToWire(status.configuration) },
    facts: named,
    error,
  } satisfies wire.ReplicaStatus;
}

export function replicaStatusFromWire(from: wire.ReplicaStatus): ReplicaStatus {
  const facts = from.facts.map(({ name, text, number }) => [name, text ?? number ?? ''] as const);
  return {
    member: from.member,
    ...(from.status && { status: logStatusFromWire(from.status) }),
    ...(facts.length > 0 && { facts: Object.fromEntries(facts) }),
    ...(from.error !== undefined && { error: from.error }),
  };
}

function logStatusFromWire({ unavailableReason, ...status }: wire.LogStatus): LogStatus {
  const own = {
    ...status,
    leader: status.leader,
    configuration: configurationFromWire(status.configuration),
    ...(unavailableReason !== undefined && { unavailableReason }),
  };
  return own as LogStatus;
}

export function operatorRequestFromWire(request: wire.OperatorRequest): OperatorRequest {
  return request.kind === 'transferLeadership' ? { kind: request.kind, to: request.to } : request;
}

export function operatorAnswerToWire(answer: OperatorAnswer): wire.OperatorAnswer {
  if (answer.kind === 'failed') return answer;
  return { kind: 'done', configuration: configurationToWire(answer.configuration) };
}

export function operatorAnswerFromWire(answer: wire.OperatorAnswer | undefined): OperatorAnswer {
  if (answer === undefined) throw new WireError('an answer of no known kind');
  if (answer.kind === 'failed') return answer;
  return { kind: 'done', configuration: configurationFromWire(answer.configuration) };
}
