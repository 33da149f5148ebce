/** Text form of messages, writes and results of the core, as scripted traces show them. */
import type { Message } from '../messages.js';
import type { Output, WriteRequest } from '../output.js';
import type { Configuration, Entry, LogPoint, Member, MemberId } from '../types.js';

/** Number of a test member: the inverse of `memberId` of the test cluster. */
export function numberOf(id: MemberId): number {
  return Number.parseInt(id, 16);
}

/** `from -> to kind term=t ...`; a log position is written index/term. */
export function describeMessage(message: Message): string {
  const { from, to, term } = message;
  return `${numberOf(from)} -> ${numberOf(to)} ${nameOf(message)} term=${term}${detailsOf(message)}`;
}

function nameOf(message: Message): string {
  switch (message.kind) {
    case 'voteRequest':
      return message.preVote ? 'preVoteRequest' : 'voteRequest';
    case 'voteResponse':
      return message.preVote ? 'preVoteResponse' : 'voteResponse';
    default:
      return message.kind;
  }
}

function detailsOf(message: Message): string {
  switch (message.kind) {
    case 'voteRequest':
      return ` last=${message.lastIndex}/${message.lastTerm}${message.transfer ? ' transfer' : ''}`;
    case 'voteResponse':
      return message.granted ? ' granted' : ' rejected';
    case 'appendRequest':
      return ` after=${position(message.previous)} ${entriesText(message.entries)} commit=${message.commitIndex}${message.notice ? ' notice' : ''}`;
    case 'appendResponse':
      if (message.accepted) return ` accepted match=${message.matchIndex}`;
      return ` rejected after=${message.refusedIndex} hint=${message.hintIndex}/${message.hintTerm}${message.needsSnapshot ? ' needsSnapshot' : ''}`;
    case 'heartbeatRequest':
      return ` commit=${message.commitIndex} context=${message.context}`;
    case 'heartbeatResponse':
      return ` context=${message.context}`;
    case 'readIndexRequest':
      return ` context=${message.context}`;
    case 'readIndexResponse':
      return ` context=${message.context} index=${message.index ?? 'none'}`;
    case 'proposeRequest':
      return ` commands=[${message.commands.map(({ data }) => JSON.stringify(data.toString())).join(' ')}]`;
    case 'proposeRefusal':
      return ` ids=[${message.ids.join(' ')}] code=${message.code}`;
    case 'timeoutNow':
      return '';
  }
}

export function describeWrite(write: WriteRequest): string {
  const { hardState, truncateFrom, entries } = write;
  const vote = hardState?.votedFor === undefined ? 'none' : numberOf(hardState.votedFor);
  return [
    ...(hardState ? [`term=${hardState.term} vote=${vote} commit=${hardState.commitIndex}`] : []),
    ...(truncateFrom === undefined ? [] : [`truncate from ${truncateFrom}`]),
    ...(entries.length > 0 ? [entriesText(entries)] : []),
  ].join(', ');
}

export function describeEntry({ index, term, kind, data }: Entry): string {
  const content = kind === 'command' ? JSON.stringify(data.toString()) : kind;
  return `${index}/${term} ${content}`;
}

export function describeConfiguration({ voters, learners, outgoing }: Configuration): string {
  const joint = outgoing ? ` outgoing=${numbers(outgoing)}` : '';
  return `voters=${numbers(voters)} learners=${numbers(learners)}${joint}`;
}

/** Results for local callers, one line each. */
export function describeResults(
  output: Pick<Output, 'readStates' | 'refusals' | 'membershipResults' | 'transferResults'>,
): string[] {
  return [
    ...output.readStates.map(({ context, index }) =>
      index === undefined ? `read ${context} fails` : `read ${context} at index ${index}`,
    ),
    ...output.refusals.map(({ ids, code }) => `proposals [${ids.join(' ')}] refused: ${code}`),
    ...output.membershipResults.map(({ requestId, error }) => result('change', requestId, error)),
    ...output.transferResults.map(({ requestId, error }) => result('transfer', requestId, error)),
  ];
}

function result(what: string, id: number, error: { readonly code: string } | undefined): string {
  return error ? `${what} ${id} fails: ${error.code}` : `${what} ${id} done`;
}

function entriesText(entries: readonly Entry[]): string {
  return `entries=[${entries.map(describeEntry).join(', ')}]`;
}

function position({ index, term }: LogPoint): string {
  return `${index}/${term}`;
}

function numbers(members: readonly Member[]): string {
  return `[${members.map(({ id }) => numberOf(id)).join(' ')}]`;
}
