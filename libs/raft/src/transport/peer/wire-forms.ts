/** Between the program's types and those of the wire, where the two differ. */

import { branded } from '../../core/brands.js';
import type { Message } from '../../core/messages.js';
import type { Configuration, SnapshotPoint, Term } from '../../core/types.js';
import type { LogStatus, ReplicaStatus } from '../../replicated-log.js';
import type * as wire from '../generated/wire.js';
import type { Greeting, OperatorAnswer, OperatorRequest } from '../transport.js';
import { WireError } from '../wire/wire-reader.js';
import { checkMessage, checkOperatorRequest, checkSnapshotPoint } from './message-check.js';

/** Throws WireError for a message that no replica sends. */
export function messagesFromWire(messages: readonly wire.Message[]): readonly Message[] {
  const own = messages as readonly Message[];
  for (const message of own) checkMessage(message);
  return own;
}

export function configurationToWire(configuration: Configuration): wire.Configuration {
  return { ...configuration, outgoing: configuration.outgoing ?? [] };
}

export function configurationFromWire(configuration: wire.Configuration): Configuration {
  const { voters, learners, outgoing } = configuration;
  const branding = branded<Configuration>({ voters, learners });
  return outgoing.length > 0 ? { ...branding, outgoing: branded(outgoing) } : branding;
}

export function snapshotHeaderToWire(
  greeting: Greeting,
  term: Term,
  point: SnapshotPoint,
): wire.SnapshotHeader {
  return { greeting, term, point, configuration: configurationToWire(point.configuration) };
}

/** Throws WireError for a point that no leader sends. */
export function snapshotPointFromWire(header: wire.SnapshotHeader): SnapshotPoint {
  const configuration = configurationFromWire(header.configuration);
  const point = branded<SnapshotPoint>({ ...header.point, configuration });
  checkSnapshotPoint(point, branded(header.term));
  return point;
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
    member: branded(from.member),
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

/** Throws WireError for a member that is not complete. */
export function operatorRequestFromWire(request: wire.OperatorRequest): OperatorRequest {
  if (request.kind !== 'changeMembership') return { kind: request.kind, to: branded(request.to) };
  const own = branded<OperatorRequest>(request);
  checkOperatorRequest(own);
  return own;
}

export function operatorAnswerToWire(answer: OperatorAnswer): wire.OperatorAnswer {
  if (answer.kind === 'failed') return answer;
  return { kind: 'done', configuration: configurationToWire(answer.configuration) };
}

export function operatorAnswerFromWire(answer: wire.OperatorAnswer | undefined): OperatorAnswer {
  if (answer === undefined) throw new WireError('a response of unknown kind');
  if (answer.kind === 'failed') return answer;
  return { kind: 'done', configuration: configurationFromWire(answer.configuration) };
}
