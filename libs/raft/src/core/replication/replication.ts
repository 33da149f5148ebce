/**
 * The leader's side of replication: progress of each follower, updated by responses. Messages are
 * created when the output is taken (`flush`), so that entries of one turn share messages.
 */

import { minIndex, nextIndex, noIndex } from '../brands.js';
import { isMember, memberIds } from '../configuration/configurations.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { removalNoticeTimeouts } from '../limits.js';
import type { AppendResponse, HeartbeatResponse } from '../messages.js';
import type { ReadRequest } from '../output.js';
import type { CoreState } from '../state/core-state.js';
import type { Entry, LogIndex, MemberId, SnapshotPoint, Term } from '../types.js';
import { AppendSender } from './append-sender.js';
import { Progress } from './progress.js';

export class Replication {
  private readonly progress = new Map<MemberId, Progress>();

  private readonly sender: AppendSender;

  constructor(private readonly state: CoreState) {
    invariant(state.activeRole === 'leader', 'a replica that does not lead replicates');
    this.sender = new AppendSender(state, this.isActive);
    this.reconfigure();
  }

  get all(): Iterable<Progress> {
    return this.progress.values();
  }

  of(id: MemberId): Progress | undefined {
    return this.progress.get(id);
  }

  /** Up to where a member's log is durable and the leader's own. */
  readonly matchOf = (id: MemberId): LogIndex => {
    if (id === this.state.id) return this.state.writes.stableIndex;
    return this.progress.get(id)?.matchIndex ?? noIndex;
  };

  /** Whether a member responded within the last election timeout. */
  readonly isActive = (id: MemberId): boolean => {
    if (id === this.state.id) return true;
    const heardAtTick = this.progress.get(id)?.lastActiveTick ?? Number.NEGATIVE_INFINITY;
    return this.state.tick - heardAtTick <= this.state.options.electionTicks;
  };

  /**
   * Whether every member has acknowledged the whole log and was sent the commit index of its end.
   */
  get isSettled(): boolean {
    const { commitIndex, log } = this.state;
    if (commitIndex < log.last.index) return false;
    for (const progress of this.progress.values()) {
      if (!progress.isSettledAt(commitIndex)) return false;
    }
    return true;
  }

  /**
   * Follows the configuration in effect. Removed members still receive appends for a while, so that
   * they learn of their removal.
   */
  reconfigure(): void {
    const { state } = this;
    const ids = memberIds(state.configurations.current);
    const departsAtTick = state.tick + removalNoticeTimeouts * state.options.electionTicks;
    for (const progress of this.progress.values()) {
      progress.removedUntilTick = ids.has(progress.id)
        ? undefined
        : (progress.removedUntilTick ?? departsAtTick);
    }
    const firstIndex = nextIndex(state.log.last.index);
    for (const id of ids) {
      if (id === state.id || this.progress.has(id)) continue;
      this.progress.set(id, new Progress(id, firstIndex, state.options));
    }
    invariant(!this.progress.has(state.id), 'a leader replicates to itself');
    invariant(
      this.progress.size >= ids.size - (ids.has(state.id) ? 1 : 0),
      'a leader does not replicate to a member',
    );
  }

  tick(): void {
    for (const { id, removedUntilTick: departsAtTick } of this.progress.values()) {
      if (departsAtTick === undefined || departsAtTick > this.state.tick) continue;
      invariant(
        !isMember(this.state.configurations.current, id),
        'a leader stops replication to a member',
      );
      mark('departedTold');
      this.progress.delete(id);
    }
  }

  flush(): void {
    const { last } = this.state.log;
    for (const progress of this.progress.values()) {
      invariant(progress.nextIndex <= last.index + 1, 'the next index is beyond the log');
      this.sender.sendPending(progress);
    }
  }

  sendHeartbeats(context: number): void {
    const { state } = this;
    invariant(state.activeRole === 'leader', 'a replica that does not lead sends heartbeats');
    for (const progress of this.progress.values()) {
      const commitIndex = minIndex(progress.matchIndex, state.commitIndex);
      state.send({
        kind: 'heartbeatRequest',
        from: state.id,
        to: progress.id,
        term: state.term,
        commitIndex,
        context,
      });
    }
  }

  /** From now on the response to a heartbeat triggers a probe for lost appends. */
  probeAllOnResponse(): void {
    for (const progress of this.progress.values()) progress.probeOnResponse = true;
  }

  onHeartbeatResponse(message: HeartbeatResponse): void {
    const progress = this.recordActivity(message);
    if (!progress) return;
    progress.diskLatencyMs = message.diskLatencyMs;
    const { appliedIndex } = message;
    // A member that lost its state but not its log matches before the snapshot that it installs.
    const isInstalled = appliedIndex >= Math.max(progress.matchIndex, this.state.log.start.index);
    if (progress.state === 'snapshot' && isInstalled) {
      // The notification was lost.
      progress.becomeProbe(nextIndex(appliedIndex));
    }
    if (!progress.probeOnResponse) return;
    progress.probeOnResponse = false;
    if (progress.state === 'probe') progress.probeSent = false;
    else if (progress.state === 'replicate' && progress.matchIndex < progress.nextIndex - 1) {
      this.sender.probeForLoss(progress);
    }
  }

  /** Returns whether the match index advanced. */
  onAppendResponse(message: AppendResponse): boolean {
    const progress = this.recordActivity(message);
    if (!progress) return false;
    if (message.needsSnapshot) {
      mark('snapshotNeededByFollower');
      if (progress.state !== 'snapshot') this.sender.sendSnapshot(progress);
      return false;
    }
    if (message.accepted) return this.accepted(progress, message.matchIndex);
    this.refused(progress, message);
    return false;
  }

  onEntriesRead(request: ReadRequest, entries: readonly Entry[] | undefined): void {
    const progress = this.progress.get(request.peer);
    const { reading } = progress ?? {};
    if (!progress || reading?.from !== request.from || reading.to !== request.to) {
      mark('entriesReadStale');
      return;
    }
    const [first] = entries ?? [];
    invariant(!first || first.index === request.from, 'other entries were read than requested');
    this.sender.onEntriesRead(progress, entries);
  }

  onSnapshotSent(to: MemberId, point: SnapshotPoint | undefined): void {
    const progress = this.progress.get(to);
    if (progress?.state !== 'snapshot') return;
    if (point) {
      invariant(point.index <= this.state.commitIndex, 'a snapshot holds uncommitted entries');
      mark('snapshotDelivered');
      progress.becomeProbe(nextIndex(point.index));
      return;
    }
    mark('snapshotFailed');
    progress.becomeProbe(nextIndex(progress.matchIndex));
    // No immediate retry: the next heartbeat response triggers it.
    progress.probeSent = true;
  }

  onUnreachable(peer: MemberId): void {
    const progress = this.progress.get(peer);
    if (progress?.state !== 'replicate') return;
    mark('peerUnreachable');
    progress.becomeProbe(nextIndex(progress.matchIndex));
  }

  private recordActivity(message: AppendResponse | HeartbeatResponse): Progress | undefined {
    const progress = this.progress.get(message.from);
    if (!progress) return undefined;
    invariant(message.term === this.state.term, 'a response of another term reaches a leader');
    if (this.exceedsLog(message)) {
      mark('responseBeyondLog');
      return undefined;
    }
    progress.lastActiveTick = this.state.tick;
    if (message.appliedIndex > progress.appliedIndex) progress.appliedIndex = message.appliedIndex;
    return progress;
  }

  /**
   * A leader has every entry that its followers match or have applied: a member that reports more
   * is faulty, and its response counts for nothing.
   */
  private exceedsLog(message: AppendResponse | HeartbeatResponse): boolean {
    const { index } = this.state.log.last;
    if (message.appliedIndex > index) return true;
    return message.kind === 'appendResponse' && message.matchIndex > index;
  }

  private accepted(progress: Progress, matchIndex: LogIndex): boolean {
    const { log } = this.state;
    invariant(
      matchIndex <= log.last.index,
      `member ${progress.id} acknowledges ${matchIndex}, which this leader does not have`,
    );
    const advanced = progress.acknowledge(matchIndex);
    invariant(progress.matchIndex >= matchIndex, 'an acknowledged entry does not count');
    if (progress.matchIndex !== matchIndex) return advanced;
    if (progress.state === 'probe' && matchIndex >= progress.nextIndex - 1) {
      progress.becomeReplicate();
    } else if (progress.state === 'snapshot' && matchIndex >= log.start.index) {
      progress.becomeReplicate();
    }
    return advanced;
  }

  private refused(progress: Progress, message: AppendResponse): void {
    const { refusedIndex, hintIndex, hintTerm } = message;
    const current =
      progress.state === 'replicate'
        ? refusedIndex > progress.matchIndex && refusedIndex < progress.nextIndex
        : progress.state === 'probe' && refusedIndex === progress.nextIndex - 1;
    if (!current) {
      mark('refusalStale');
      return;
    }
    mark('probeBackedOff');
    progress.becomeProbe(this.agreementAfter(hintIndex, hintTerm));
  }

  /**
   * The index to probe next, given that the logs may agree at `hintIndex`; at or before the start:
   * a snapshot follows.
   */
  private agreementAfter(hintIndex: LogIndex, hintTerm: Term): LogIndex {
    const { log } = this.state;
    if (hintIndex < log.start.index) return nextIndex(hintIndex);
    const agreed = log.agreementHint(hintIndex, hintTerm);
    return agreed.term <= hintTerm ? nextIndex(agreed.index) : agreed.index;
  }
}
