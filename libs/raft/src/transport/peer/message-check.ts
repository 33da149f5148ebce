/**
 * Checks the fields of a received message before consensus reads them: the range of each number and
 * the relations within the message. A message that fails is of a faulty peer, whose call is closed.
 * Consensus compares messages with the log of this replica.
 */
import {
  ConfigurationFormatError,
  checkConfiguration,
  decodeConfiguration,
} from '../../core/configuration/configuration-codec.js';
import { positionMax } from '../../core/limits.js';
import type { AppendRequest, Message } from '../../core/messages.js';
import type { SnapshotPoint, Term } from '../../core/types.js';
import type { OperatorRequest } from '../transport.js';
import { WireError } from '../wire/wire-reader.js';

/** Throws WireError. */
export function checkMessage(message: Message): void {
  checkPosition(message.term, 'term');
  switch (message.kind) {
    case 'voteRequest':
      checkPosition(message.lastIndex, 'lastIndex');
      check(
        message.lastTerm < message.term,
        'a candidate has entries of the term that it requests',
      );
      return;
    case 'appendRequest':
      checkAppend(message);
      return;
    case 'appendResponse':
      checkPosition(message.matchIndex, 'matchIndex');
      checkPosition(message.refusedIndex, 'refusedIndex');
      checkPosition(message.hintIndex, 'hintIndex');
      checkPosition(message.appliedIndex, 'appliedIndex');
      check(message.hintTerm <= message.term, 'a hint is of a later term than its message');
      return;
    case 'heartbeatRequest':
      check(message.term > 0, 'a leader without a term');
      checkPosition(message.commitIndex, 'commitIndex');
      return;
    case 'heartbeatResponse':
      checkPosition(message.appliedIndex, 'appliedIndex');
      check(
        Number.isFinite(message.diskLatencyMs) && message.diskLatencyMs >= 0,
        'a disk latency is not a time',
      );
      return;
    case 'readIndexResponse':
      if (message.index !== undefined) checkPosition(message.index, 'index');
      return;
    case 'timeoutNow':
      check(message.term > 0, 'a leader without a term');
  }
}

/** `term`: of the sender. Throws WireError. */
export function checkSnapshotPoint(point: SnapshotPoint, term: Term): void {
  checkPosition(term, 'term');
  checkPosition(point.index, 'index');
  check(point.index > 0, 'a snapshot of no entry');
  check(point.term <= term, 'a snapshot is of a later term than its sender');
  checkConfigurationOf(() => checkConfiguration(point.configuration));
}

/** Throws WireError. */
export function checkOperatorRequest(request: OperatorRequest): void {
  if (request.kind !== 'changeMembership') return;
  const { change } = request;
  if (change.kind !== 'addLearner' && change.kind !== 'update') return;
  const { id, name, peerUrl } = change.member;
  check(id !== '' && name !== '' && peerUrl !== '', 'a member without id, name or peer URL');
}

function checkAppend({ term, previous, entries, commitIndex, notice }: AppendRequest): void {
  check(term > 0, 'a leader without a term');
  checkPosition(previous.index + entries.length, 'index');
  checkPosition(commitIndex, 'commitIndex');
  check(!notice || entries.length === 0, 'a notice has entries');
  check(previous.term <= term, 'a previous entry is of a later term than its message');
  for (const entry of entries) {
    check(entry.term <= term, 'an entry is of a later term than its message');
    if (entry.kind === 'configuration') {
      checkConfigurationOf(() => decodeConfiguration(entry.data));
    }
  }
}

function checkConfigurationOf(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigurationFormatError)) throw error;
    throw new WireError(error.message, { cause: error });
  }
}

function checkPosition(value: number, field: string): void {
  if (value > positionMax) throw new WireError(`${field} is above ${positionMax}`);
}

function check(condition: boolean, message: string): void {
  if (!condition) throw new WireError(message);
}
