/**
 * The follower's side of replication: appends entries that follow its log, truncates entries that
 * contradict the leader's, advances the commit index. Acknowledges only durable entries.
 *
 * The sender need not be in this replica's configuration: a new member learns the members only from
 * the entries that it receives. The election guarantees that the sender of appends is the leader of
 * its term; the transport guarantees that it belongs to this cluster.
 */

import { asLogIndex, minIndex, noIndex, noTerm } from '../brands.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { follows } from '../log/entry-checksum.js';
import type { AppendRequest, HeartbeatRequest } from '../messages.js';
import type { CoreState } from '../state/core-state.js';
import type { Entry, LogIndex, LogPoint, MemberId } from '../types.js';

export class Follower {
  constructor(private readonly state: CoreState) {}

  onAppend(message: AppendRequest): void {
    const { state } = this;
    invariant(message.term === state.term, 'an append is of another term');
    invariant(state.leader === message.from, 'an append is not from the leader');
    if (state.installing) {
      mark('appendWhileInstalling');
      return;
    }
    if (state.needsSnapshot) {
      mark('appendNeedsSnapshot');
      this.refuse(message, state.log.start);
      return;
    }
    if (!isChained(message.previous, message.entries)) {
      // Nothing of it was taken, the leader sends it again; `status` shows how often that happened.
      mark('appendDamaged');
      state.damagedAppends += 1;
      return;
    }
    const previous = this.comparablePoint(message);
    if (!previous) {
      mark('appendBeforeStart');
      this.acknowledge(message.from, state.commitIndex);
      return;
    }
    if (state.log.termAt(previous.index) !== previous.term) {
      mark('appendRefused');
      this.refuse(message, state.log.agreementHint(previous.index, previous.term));
      return;
    }
    this.checkSameEntry(previous);
    const matchIndex = asLogIndex(message.previous.index + message.entries.length);
    this.appendNew(previous, message.entries);
    state.commitTo(minIndex(message.commitIndex, matchIndex));
    if (message.notice) {
      mark('noticeAccepted');
      return;
    }
    mark('appendAccepted');
    this.acknowledge(message.from, matchIndex);
  }

  onHeartbeat(message: HeartbeatRequest): void {
    const { state } = this;
    invariant(message.term === state.term, 'a heartbeat is of another term');
    invariant(state.leader === message.from, 'a heartbeat is not from the leader');
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

  /**
   * Acknowledges that the log matches the leader's up to `matchIndex`, as soon as it is durable.
   */
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
        refusedIndex: noIndex,
        hintIndex: noIndex,
        hintTerm: noTerm,
        needsSnapshot: false,
        appliedIndex: state.appliedIndex,
      },
      matchIndex,
    );
  }

  /** Rejects a message of an earlier term's leader, so that it learns the current term. */
  rejectStaleLeader(to: MemberId): void {
    const { state } = this;
    state.sendDurable({
      kind: 'appendResponse',
      from: state.id,
      to,
      term: state.term,
      accepted: false,
      matchIndex: noIndex,
      refusedIndex: noIndex,
      hintIndex: noIndex,
      hintTerm: noTerm,
      needsSnapshot: false,
      appliedIndex: state.appliedIndex,
    });
  }

  private refuse(message: AppendRequest, hint: Pick<LogPoint, 'index' | 'term'>): void {
    const { state } = this;
    state.sendDurable({
      kind: 'appendResponse',
      from: state.id,
      to: message.from,
      term: state.term,
      accepted: false,
      matchIndex: noIndex,
      refusedIndex: message.previous.index,
      hintIndex: hint.index,
      hintTerm: hint.term,
      needsSnapshot: state.needsSnapshot,
      appliedIndex: state.appliedIndex,
    });
  }

  /**
   * The point of the message from which on this log can compare: `previous`, or where this log
   * starts when that is later. Undefined: all of it is before the start, and so committed.
   */
  private comparablePoint({ previous, entries }: AppendRequest): LogPoint | undefined {
    const { start } = this.state.log;
    if (previous.index >= start.index) return previous;
    return entries[start.index - previous.index - 1];
  }

  private appendNew(previous: LogPoint, entries: readonly Entry[]): void {
    const { state } = this;
    let before = previous;
    for (const entry of entries) {
      if (entry.index <= previous.index) continue;
      const term = state.log.termAt(entry.index);
      if (term === entry.term) this.checkSameEntry(entry);
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
  private checkSameEntry(point: LogPoint): void {
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
