/**
 * Leading for one term. Made when the election is won, dropped when the lead is lost. Commits an entry
 * once a quorum has it durably, and only entries of its own term by count; those before follow.
 * Invariant: it has heard from a quorum within the last two election timeouts, else it steps down.
 */
import type { LogIndex } from '../replicated-log.js';
import { isMember } from './configurations.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import type { RoleChanges } from './elections.js';
import { invariant } from './invariant.js';
import { LEASE_SHARE } from './limits.js';
import { isRemovedLeader, MembershipChanges } from './membership-changes.js';
import { Proposals, refuseCommands } from './proposals.js';
import { isQuorum, quorumIndex } from './quorum.js';
import { answerRead, type Reader, ReadRounds } from './read-rounds.js';
import { Replication } from './replication.js';
import { SlowDisk } from './slow-disk.js';
import { bestTarget, type Transfers } from './transfers.js';
import type {
  AppendResponse,
  ForwardedCommand,
  HeartbeatResponse,
  MemberId,
  MembershipChange,
} from './types.js';

export class Leader {
  readonly replication: Replication;
  readonly proposals: Proposals;
  readonly #rounds: ReadRounds;
  readonly #changes: MembershipChanges;
  readonly #slowDisk: SlowDisk;
  /** The empty entry that begins the term. */
  readonly #termStartIndex: LogIndex;
  #ticks = 0;

  constructor(
    private readonly state: CoreState,
    private readonly transfers: Transfers,
    private readonly roles: RoleChanges,
  ) {
    invariant(state.writes.voteStable, 'a leader was elected before its own vote was durable');
    this.replication = new Replication(state);
    this.#termStartIndex = state.appendOwn('empty', Buffer.alloc(0)).index;
    this.proposals = new Proposals(state, this.#termStartIndex);
    this.#rounds = new ReadRounds(state);
    this.#changes = new MembershipChanges(state, this.replication);
    this.#slowDisk = new SlowDisk(state, this.replication);
  }

  get #ownTermCommitted(): boolean {
    return this.state.commitIndex >= this.#termStartIndex;
  }

  tick(): void {
    const { state } = this;
    const { options } = state;
    this.#ticks += 1;
    if (this.#ticks % options.electionTicks === 0 && !this.#hasQuorum()) {
      mark('steppedDownWithoutQuorum');
      this.roles.becomeFollower(state.term, undefined);
      return;
    }
    this.replication.tick();
    if (this.#ticks % options.heartbeatTicks === 0) {
      this.replication.nudgeAll();
      // Before that, the commit index may be behind what an earlier leader has acknowledged.
      if (options.leaseReads && this.#ownTermCommitted) this.#rounds.begin();
      this.replication.sendHeartbeats(this.#rounds.context);
    }
    this.#considerHandingOver();
  }

  /** Makes what goes out now. */
  flush(): void {
    this.#serveReads();
    this.replication.flush();
    this.transfers.flush(this.replication);
  }

  propose(commands: readonly ForwardedCommand[], from: MemberId): void {
    if (from !== this.state.id && !isMember(this.state.configurations.current, from)) {
      refuseCommands(this.state, commands, from, 'NoLeader');
      return;
    }
    this.proposals.take(commands, from, this.transfers.underWay);
  }

  read(reader: Reader): void {
    if (
      reader.from !== this.state.id &&
      !isMember(this.state.configurations.current, reader.from)
    ) {
      answerRead(this.state, reader, undefined);
    } else this.#rounds.add(reader);
  }

  changeMembership(requestId: number, change: MembershipChange): void {
    const settled = this.#ownTermCommitted && !this.transfers.underWay;
    this.#changes.request(requestId, change, settled);
  }

  onWritten(): void {
    this.#advanceCommit();
  }

  onAppendResponse(message: AppendResponse): void {
    if (this.replication.onAppendResponse(message)) this.#advanceCommit();
  }

  onHeartbeatResponse(message: HeartbeatResponse): void {
    this.replication.onHeartbeatResponse(message);
    this.#rounds.acknowledge(message.from, message.context);
  }

  /** Whoever waits for this leader is told to ask the next one. */
  onLeadLost(): void {
    this.#rounds.refuseAll();
    this.#changes.onLeadLost();
  }

  #considerHandingOver(): void {
    const { state, transfers } = this;
    const quicker = this.#slowDisk.tick();
    if (transfers.underWay) return;
    if (quicker !== undefined) {
      mark('transferSlowDisk');
      transfers.begin(quicker);
    } else if (state.needsSnapshot && this.#ownTermCommitted) {
      // It has passed on the entries that it alone had; whoever leads next sends it a state.
      const next = bestTarget(state, this.replication);
      if (!next) return;
      mark('transferNeedsSnapshot');
      transfers.begin(next.id);
    }
  }

  #hasQuorum(): boolean {
    return isQuorum(this.state.configurations.current, this.replication.isActive);
  }

  #serveReads(): void {
    if (this.#rounds.waitingCount === 0) return;
    const { state } = this;
    if (!this.#ownTermCommitted) {
      mark('readWaitsForOwnTerm');
      return;
    }
    if (state.isQuorumAlone) {
      mark('readAlone');
      this.#rounds.answerWaiting();
    } else if (this.#leaseHolds()) {
      mark('readLease');
      this.#rounds.answerWaiting();
    } else if (this.#rounds.begin()) this.replication.sendHeartbeats(this.#rounds.context);
  }

  #leaseHolds(): boolean {
    const { leaseReads, electionTicks } = this.state.options;
    const marginTicks = electionTicks * (1 - LEASE_SHARE);
    return leaseReads && !this.transfers.voidsLease && this.#rounds.holdsLease(marginTicks);
  }

  #advanceCommit(): void {
    const { state } = this;
    const index = quorumIndex(state.configurations.current, this.replication.matchOf);
    if (index <= state.commitIndex) return;
    if (state.log.termAt(index) !== state.term) {
      mark('commitOldTermWaits');
      return;
    }
    if (index > state.writes.stableIndex) mark('commitBeforeOwnWrite');
    this.proposals.release(state.commitIndex, index);
    state.commitTo(index);
    this.#changes.onCommitted();
    if (isRemovedLeader(state)) this.#leave();
  }

  /** This member was removed: the others are told of the commit, and the best of them to take over. */
  #leave(): void {
    const { state } = this;
    mark('steppedDownRemoved');
    this.replication.flush();
    const next = bestTarget(state, this.replication);
    if (next) state.send({ kind: 'timeoutNow', from: state.id, to: next.id, term: state.term });
    this.roles.becomeFollower(state.term, undefined);
  }
}
