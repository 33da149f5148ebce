/**
 * What a replica does on its leader's word: appends what follows its log, truncates what the leader
 * does not have, advances its commit index. Acknowledges only what is durable.
 *
 * The sender need not be in this replica's configuration: a new member learns of the members only from
 * the entries that it is sent. That a term's sender of appends is its elected leader is guaranteed by
 * the election, and that it is of this cluster by the transport.
 */
import type { LogIndex } from '../replicated-log.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { follows } from './entry-checksum.js';
import { invariant } from './invariant.js';
import type { AppendRequest, Entry, HeartbeatRequest, LogPoint, MemberId } from './types.js';

export class Follower {
  constructor(private readonly state: CoreState) {}

  onAppend(message: AppendRequest): void {
    const { state } = this;
    if (state.installing) {
      mark('appendWhileInstalling');
      return;
    }
    if (state.needsSnapshot) {
      mark('appendNeedsSnapshot');
      this.#refuse(message, state.log.start);
      return;
    }
    if (!isChained(message.previous, message.entries)) {
      // Nothing of it was taken, the leader sends it again; `status` shows how often that happened.
      mark('appendDamaged');
      state.damagedAppends += 1;
      return;
    }
    const previous = this.#knownPoint(message);
    if (!previous) {
      mark('appendBeforeStart');
      this.acknowledge(message.from, state.commitIndex);
      return;
    }
    if (state.log.termAt(previous.index) !== previous.term) {
      mark('appendRefused');
      this.#refuse(message, state.log.agreementHint(previous.index, previous.term));
      return;
    }
    this.#checkSame(previous);
    const matchIndex = (message.previous.index + message.entries.length) as LogIndex;
    this.#appendNew(previous, message.entries);
    state.commitTo(Math.min(message.commitIndex, matchIndex) as LogIndex);
    mark('appendAccepted');
    this.acknowledge(message.from, matchIndex);
  }

  onHeartbeat(message: HeartbeatRequest): void {
    const { state } = this;
    if (!state.installing) state.commitTo(message.commitIndex);
    state.sendDurable({
      kind: 'heartbeatResponse',
      from: state.id,
      to: message.from,
      term: state.term,
      context: message.context,
      appliedIndex: state.appliedIndex,
      diskLatencyMs: state.diskLatencyMs,
    });
  }

  /** Tells that the log is the leader's up to `matchIndex`, as soon as it is durable. */
  acknowledge(leader: MemberId, matchIndex: LogIndex): void {
    const { state } = this;
    invariant(matchIndex <= state.log.last.index, 'more is acknowledged than the log holds');
    state.sendDurable(
      {
        kind: 'appendResponse',
        from: state.id,
        to: leader,
        term: state.term,
        accepted: true,
        matchIndex,
        refusedIndex: 0 as LogIndex,
        hintIndex: 0 as LogIndex,
        hintTerm: 0,
        needsSnapshot: false,
        appliedIndex: state.appliedIndex,
      },
      matchIndex,
    );
  }

  /** Refuses a message of an earlier term's leader, so that it learns of the term. */
  tellTerm(to: MemberId): void {
    const { state } = this;
    state.sendDurable({
      kind: 'appendResponse',
      from: state.id,
      to,
      term: state.term,
      accepted: false,
      matchIndex: 0 as LogIndex,
      refusedIndex: 0 as LogIndex,
      hintIndex: 0 as LogIndex,
      hintTerm: 0,
      needsSnapshot: false,
      appliedIndex: state.appliedIndex,
    });
  }

  #refuse(message: AppendRequest, hint: Pick<LogPoint, 'index' | 'term'>): void {
    const { state } = this;
    state.sendDurable({
      kind: 'appendResponse',
      from: state.id,
      to: message.from,
      term: state.term,
      accepted: false,
      matchIndex: 0 as LogIndex,
      refusedIndex: message.previous.index,
      hintIndex: hint.index,
      hintTerm: hint.term,
      needsSnapshot: state.needsSnapshot,
      appliedIndex: state.appliedIndex,
    });
  }

  /**
   * The point of the message from which on this log can compare: `previous`, or where this log starts
   * when that is later. Undefined: all of it is before the start, and so committed.
   */
  #knownPoint({ previous, entries }: AppendRequest): LogPoint | undefined {
    const { start } = this.state.log;
    if (previous.index >= start.index) return previous;
    return entries[start.index - previous.index - 1];
  }

  #appendNew(previous: LogPoint, entries: readonly Entry[]): void {
    const { state } = this;
    let before = previous;
    for (const entry of entries) {
      if (entry.index <= previous.index) continue;
      const term = state.log.termAt(entry.index);
      if (term === entry.term) this.#checkSame(entry);
      else {
        if (term !== undefined) {
          mark('appendTruncated');
          state.truncateAfter(before);
        }
        state.append(entry);
      }
      before = entry;
    }
  }

  /** Two entries of one index and term are one entry: else two leaders led in that term. */
  #checkSame(point: LogPoint): void {
    const own = this.state.log.pointAt(point.index);
    invariant(
      own === undefined || own.checksum === point.checksum,
      `the logs have diverged: entry ${point.index} of term ${point.term} has another checksum than the leader's`,
    );
  }
}

function isChained(previous: LogPoint, entries: readonly Entry[]): boolean {
  let before = previous;
  for (const entry of entries) {
    if (!follows(before, entry)) return false;
    before = entry;
  }
  return true;
}
