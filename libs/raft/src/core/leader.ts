/**
 * One term as leader. Created when the election is won, dropped when the leadership is lost.
 * Commits an entry of its own term once a quorum stores it; earlier entries are committed with it.
 * Invariant: a quorum was active within the last two election timeouts, otherwise it steps down.
 */
import { isMember } from './configuration/configurations.js';
import { isQuorum, quorumIndex } from './configuration/quorum.js';
import { mark } from './coverage-marks.js';
import type { RoleChanges } from './election/elections.js';
import { invariant } from './invariant.js';
import { leaseFraction } from './limits.js';
import { isRemovedLeader, MembershipChanges } from './membership/membership-changes.js';
import type { AppendResponse, ForwardedCommand, HeartbeatResponse } from './messages.js';
import { type Reader, ReadRounds, respondToRead } from './reads/read-rounds.js';
import { Proposals, refuseCommands } from './replication/proposals.js';
import { Replication } from './replication/replication.js';
import type { CoreState } from './state/core-state.js';
import { SlowDisk } from './transfer/slow-disk.js';
import { bestTransferTarget, type Transfers } from './transfer/transfers.js';
import type { LogIndex, MemberId, MembershipChange } from './types.js';

export class Leader {
  readonly replication: Replication;
  readonly proposals: Proposals;
  private readonly rounds: ReadRounds;
  private readonly changes: MembershipChanges;
  private readonly slowDisk: SlowDisk;
  /** The empty entry that begins the term. */
  private readonly termStartIndex: LogIndex;
  private ticks = 0;
  private heartbeatAtTick = 0;

  constructor(
    private readonly state: CoreState,
    private readonly transfers: Transfers,
    private readonly roles: RoleChanges,
  ) {
    invariant(state.activeRole === 'leader', 'a replica that does not lead acts as leader');
    invariant(state.writes.hardStateStable, 'a leader was elected before its own vote was durable');
    this.replication = new Replication(state);
    this.termStartIndex = state.appendOwn('empty', Buffer.alloc(0)).index;
    invariant(state.log.last.term === state.term, 'a leader begins with an entry of another term');
    invariant(this.termStartIndex > state.commitIndex, 'an entry of a new leader is committed');
    this.proposals = new Proposals(state, this.termStartIndex);
    this.rounds = new ReadRounds(state);
    this.changes = new MembershipChanges(state, this.replication);
    this.slowDisk = new SlowDisk(state, this.replication);
  }

  /**
   * Where readers may read without a round: only while no other member can be elected without this
   * one. Undefined: they need a round.
   */
  get soleReadIndex(): LogIndex | undefined {
    const { state } = this;
    return this.ownTermCommitted && state.isSoleQuorum ? state.commitIndex : undefined;
  }

  private get ownTermCommitted(): boolean {
    return this.state.commitIndex >= this.termStartIndex;
  }

  /** The interval of heartbeats: longer while every member has everything and no caller waits. */
  private get heartbeatTicks(): number {
    const { heartbeatTicks, idleHeartbeatTicks } = this.state.options;
    const isIdle =
      idleHeartbeatTicks > heartbeatTicks &&
      !this.transfers.inProgress &&
      !this.rounds.isBusy &&
      this.replication.isSettled;
    return isIdle ? idleHeartbeatTicks : heartbeatTicks;
  }

  /** Ticks up to the next heartbeats. */
  get ticksUntilDue(): number {
    return Math.max(1, this.heartbeatAtTick + this.heartbeatTicks - this.ticks);
  }

  tick(): void {
    const { state } = this;
    const { options } = state;
    invariant(state.leader === state.id, 'a leader follows another');
    this.ticks += 1;
    if (this.ticks % options.electionTicks === 0 && !this.hasQuorum()) {
      mark('steppedDownWithoutQuorum');
      this.roles.becomeFollower(state.term, undefined);
      return;
    }
    this.replication.tick();
    if (this.ticks - this.heartbeatAtTick >= this.heartbeatTicks) {
      this.heartbeatAtTick = this.ticks;
      this.replication.probeAllOnResponse();
      // Before that, the commit index may be behind what an earlier leader has acknowledged.
      if (options.leaseReads && this.ownTermCommitted) this.rounds.begin();
      this.replication.sendHeartbeats(this.rounds.context);
    }
    this.transferIfDegraded();
  }

  /** Creates the messages to send now. */
  flush(): void {
    this.serveReads();
    this.replication.flush();
    this.transfers.flush(this.replication);
  }

  propose(commands: readonly ForwardedCommand[], from: MemberId): void {
    if (from !== this.state.id && !isMember(this.state.configurations.current, from)) {
      refuseCommands(this.state, commands, from, 'NoLeader');
      return;
    }
    this.proposals.take(commands, from, this.transfers.inProgress);
  }

  read(reader: Reader): void {
    if (
      reader.from !== this.state.id &&
      !isMember(this.state.configurations.current, reader.from)
    ) {
      respondToRead(this.state, reader, undefined);
    } else this.rounds.add(reader);
  }

  changeMembership(requestId: number, change: MembershipChange): void {
    const settled = this.ownTermCommitted && !this.transfers.inProgress;
    this.changes.request(requestId, change, settled);
  }

  onWritten(): void {
    this.advanceCommit();
  }

  onAppendResponse(message: AppendResponse): void {
    if (this.replication.onAppendResponse(message)) this.advanceCommit();
  }

  onHeartbeatResponse(message: HeartbeatResponse): void {
    this.replication.onHeartbeatResponse(message);
    this.rounds.acknowledge(message.from, message.context);
  }

  /** Fails all callers that wait for this leader, so that they try the next one. */
  onLeadershipLost(): void {
    invariant(this.state.activeRole !== 'leader', 'a leader stops while it leads');
    this.rounds.rejectAll();
    this.changes.onLeadershipLost();
  }

  private transferIfDegraded(): void {
    const { state, transfers } = this;
    const quicker = this.slowDisk.tick();
    if (transfers.inProgress) return;
    if (quicker !== undefined) {
      mark('transferSlowDisk');
      transfers.begin(quicker);
    } else if (state.needsSnapshot && this.ownTermCommitted) {
      // It has replicated the entries that only it had; the next leader sends it a snapshot.
      const next = bestTransferTarget(state, this.replication);
      if (!next) return;
      mark('transferNeedsSnapshot');
      transfers.begin(next.id);
    }
  }

  private hasQuorum(): boolean {
    return isQuorum(this.state.configurations.current, this.replication.isActive);
  }

  private serveReads(): void {
    if (this.rounds.waitingCount === 0) return;
    const { state } = this;
    if (!this.ownTermCommitted) {
      mark('readWaitsForOwnTerm');
      return;
    }
    if (state.isSoleQuorum) {
      mark('readAlone');
      this.rounds.respondToWaiting();
    } else if (this.leaseHolds()) {
      mark('readLease');
      this.rounds.respondToWaiting();
    } else if (this.rounds.begin()) this.replication.sendHeartbeats(this.rounds.context);
  }

  private leaseHolds(): boolean {
    const { leaseReads, electionTicks } = this.state.options;
    const marginTicks = electionTicks * (1 - leaseFraction);
    return leaseReads && !this.transfers.voidsLease && this.rounds.holdsLease(marginTicks);
  }

  private advanceCommit(): void {
    const { state } = this;
    const index = quorumIndex(state.configurations.current, this.replication.matchOf);
    if (index <= state.commitIndex) return;
    if (state.log.termAt(index) !== state.term) {
      mark('commitOldTermWaits');
      return;
    }
    invariant(
      index <= state.log.last.index,
      'a quorum stores an entry that the leader does not have',
    );
    if (index > state.writes.stableIndex) mark('commitBeforeOwnWrite');
    this.proposals.release(state.commitIndex, index);
    state.commitTo(index);
    invariant(state.commitIndex === index, 'the commit index did not advance to the quorum');
    this.changes.onCommitted();
    if (isRemovedLeader(state)) this.stepDownRemoved();
  }

  /**
   * This member was removed: replicates the commit index and requests an election of the best
   * voter.
   */
  private stepDownRemoved(): void {
    const { state } = this;
    invariant(isRemovedLeader(state), 'a leader steps down that is a voter');
    mark('steppedDownRemoved');
    this.replication.flush();
    const next = bestTransferTarget(state, this.replication);
    if (next) state.send({ kind: 'timeoutNow', from: state.id, to: next.id, term: state.term });
    this.roles.becomeFollower(state.term, undefined);
  }
}
