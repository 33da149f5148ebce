/**
 * The consensus of one replica, as a pure state machine: messages, events and ticks go in;
 * `takeOutput` returns everything to do. It has no promises, timers, clocks or randomness of its
 * own, so that one seed of a simulation is one exact run. A broken invariant throws InvariantError
 * and must end the process.
 */

import { Delivery } from './apply/delivery.js';
import { Snapshots } from './apply/snapshots.js';
import { minIndex, noIndex } from './brands.js';
import type { CoreOptions, InitialState } from './core-options.js';
import { mark } from './coverage-marks.js';
import { invariant } from './invariant.js';
import { refuseChange } from './membership/membership-changes.js';
import { MessageRouter } from './message-router.js';
import type { ForwardedCommand, Message } from './messages.js';
import type { LocalEvent, Output } from './output.js';
import { ForwardedReads } from './reads/forwarded-reads.js';
import { Follower } from './replication/follower.js';
import { forwardCommands, refuseCommands } from './replication/proposals.js';
import { verifyReplication } from './replication/verify-replication.js';
import { Roles } from './roles.js';
import { CoreState } from './state/core-state.js';
import { verifyState } from './state/verify-state.js';
import { type CoreStatus, describeStatus } from './status.js';
import { Transfers } from './transfer/transfers.js';
import type {
  Configuration,
  Leadership,
  LogIndex,
  LogPoint,
  MemberId,
  MembershipChange,
} from './types.js';

export class RaftCore {
  private readonly state: CoreState;
  private readonly roles: Roles;
  private readonly router: MessageRouter;
  private readonly delivery: Delivery;
  private readonly snapshots: Snapshots;
  private readonly transfers: Transfers;
  private readonly forwardedReads: ForwardedReads;
  private reportedLeadership: Leadership | undefined;
  private reportedConfiguration: Configuration | undefined;

  constructor(options: CoreOptions, initial: InitialState) {
    invariant(
      options.electionTicks > options.heartbeatTicks && options.heartbeatTicks >= 1,
      'the election timeout must be longer than the heartbeat interval',
    );
    invariant(
      options.idleHeartbeatTicks >= options.heartbeatTicks &&
        options.idleHeartbeatTicks < options.electionTicks,
      'the heartbeat interval of an idle leader is outside of its range',
    );
    invariant(
      options.appendEntriesMax >= 1 && options.unappliedEntriesMax >= 1,
      'the limits of entries let no entry through',
    );
    const state = new CoreState(options, initial);
    this.state = state;
    this.delivery = new Delivery(state, initial.needsSnapshot ? noIndex : initial.appliedIndex);
    const follower = new Follower(state);
    this.snapshots = new Snapshots(state, follower, this.delivery);
    this.transfers = new Transfers(state);
    this.forwardedReads = new ForwardedReads(state);
    this.roles = new Roles(state, this.transfers, this.forwardedReads);
    this.router = new MessageRouter(state, this.roles, follower, this.forwardedReads);
  }

  /** A message of another replica; of any age, any number of times, in any order. */
  step(message: Message): void {
    this.router.step(message);
  }

  /** Handles an event of this replica. */
  handle(event: LocalEvent): void {
    const state = this.state;
    switch (event.kind) {
      case 'written':
        state.outbox.messages.push(...state.writes.onWritten(event.id, state.term));
        this.roles.elections.onWritten();
        this.roles.leader?.onWritten();
        return;
      case 'entriesRead':
        if (event.request.peer === state.id) {
          this.delivery.onEntriesRead(event.request, event.entries);
          return;
        }
        this.roles.leader?.replication.onEntriesRead(event.request, event.entries);
        return;
      case 'applied':
        this.delivery.onApplied(event.index);
        return;
      case 'compacted':
        invariant(
          event.point.index <= state.appliedIndex,
          'entries were compacted before being applied',
        );
        state.log.compactTo(event.point);
        state.configurations.compactTo(event.point.index);
        return;
      case 'snapshotSent':
        this.roles.leader?.replication.onSnapshotSent(event.to, event.point);
        return;
      case 'snapshotReceived':
        this.snapshots.onReceived(event.point, event.from, event.term);
        return;
      case 'snapshotInstalled':
        this.snapshots.onInstalled(event.point);
        return;
      case 'peerUnreachable':
        this.roles.leader?.replication.onUnreachable(event.peer);
        if (!event.connected) this.roles.elections.onDisconnected(event.peer);
        return;
      case 'admitted':
        state.admitted = true;
        return;
      case 'diskLatency':
        invariant(event.p99Ms >= 0, 'a write takes less than no time');
        state.diskLatencyMs = event.p99Ms;
    }
  }

  /**
   * Ticks up to the first one that does more than count, unless a call of this core changes it. The
   * caller may wait for so long, if it ticks for the time that passed before each call.
   */
  get ticksUntilDue(): number {
    const { forwardedReads, roles, state, transfers } = this;
    if (forwardedReads.isWaiting || transfers.isWaiting) return 1;
    if (!state.admitted) return state.options.electionTicks;
    return roles.leader?.ticksUntilDue ?? roles.elections.ticksUntilDue;
  }

  /** The unit of all timeouts has passed. */
  tick(): void {
    const { state } = this;
    const { messages } = state.outbox;
    const sentCount = messages.length;
    const isQuiet = state.options.verifies && !this.roles.leader && this.ticksUntilDue > 1;
    state.tick += 1;
    invariant(
      (this.roles.leader !== undefined) === (state.activeRole === 'leader'),
      'the role of a replica is not the one that it acts in',
    );
    if (!state.admitted) return;
    this.forwardedReads.tick();
    this.transfers.tick(this.roles.leader?.replication);
    if (this.roles.leader) this.roles.leader.tick();
    else this.roles.elections.tick();
    invariant(!isQuiet || messages.length === sentCount, 'a replica acts before it is due');
  }

  /**
   * Proposes commands, here or at the leader. Commands that were certainly not appended are
   * returned as `refusals`.
   */
  propose(commands: readonly ForwardedCommand[]): void {
    const state = this.state;
    if (this.roles.leader) this.roles.leader.propose(commands, state.id);
    else if (state.leader !== undefined) forwardCommands(state, commands, state.leader);
    else {
      mark('proposalNoLeader');
      refuseCommands(state, commands, state.id, 'NoLeader');
    }
  }

  /**
   * Requests a read index; `readStates` always holds the result. `context` is the caller's and
   * never used twice.
   */
  readIndex(context: number): void {
    if (this.roles.leader) this.roles.leader.read({ context, from: this.state.id });
    else this.forwardedReads.request(context);
  }

  /**
   * The index at which readers of this replica may read now, if it decides alone. It must reach
   * them before any output of the same step is carried out.
   */
  soleReadIndex(): LogIndex | undefined {
    return this.roles.leader?.soleReadIndex;
  }

  /** Requests a membership change; `membershipResults` always holds the result. */
  changeMembership(requestId: number, change: MembershipChange): void {
    if (this.roles.leader) {
      this.roles.leader.changeMembership(requestId, change);
      return;
    }
    refuseChange(this.state, requestId, 'NotLeader', 'this member does not lead');
  }

  /**
   * Requests a leadership transfer; `transferResults` always holds the result. `to` undefined: the
   * voter that is best prepared.
   */
  transferLeadership(requestId: number, to: MemberId | undefined): void {
    this.transfers.request(requestId, to, this.roles.leader?.replication);
  }

  /** Returns everything to do since the last call. */
  takeOutput(): Output {
    const state = this.state;
    this.roles.leader?.flush();
    const write = this.snapshots.blocksWrites
      ? undefined
      : state.writes.take(state.hardState, state.log.last.index);
    const install = this.snapshots.take();
    invariant(!write || !install, 'a write begins while a snapshot is installed');
    const committed = this.delivery.take();
    state.log.evict(minIndex(state.commitIndex, state.writes.stableIndex));
    if (state.options.verifies) this.verify();
    return state.outbox.take({
      write,
      committed,
      install,
      leadership: this.takeLeadership(),
      configuration: this.takeConfiguration(),
    });
  }

  status(): CoreStatus {
    return describeStatus(this.state, this.roles.leader, this.transfers.inProgress);
  }

  /**
   * The configuration as of an entry that is not compacted: the members that a snapshot up to there
   * records.
   */
  configurationAt(index: LogIndex): Configuration | undefined {
    invariant(index <= this.state.log.last.index, 'a configuration is read beyond the log');
    return this.state.configurations.at(index);
  }

  /** Undefined: not in the log, or no longer in memory (then `LogStore.read` knows). */
  pointAt(index: LogIndex): LogPoint | undefined {
    const point = this.state.log.pointAt(index);
    return point && { index: point.index, term: point.term, checksum: point.checksum };
  }

  private verify(): void {
    verifyState(this.state);
    const { leader } = this.roles;
    if (leader) verifyReplication(this.state, leader.replication);
  }

  private takeLeadership(): Leadership | undefined {
    const { term, leader, role } = this.state;
    const before = this.reportedLeadership;
    if (before?.term === term && before.leader === leader && before.role === role) return undefined;
    this.reportedLeadership = { term, leader, role };
    return this.reportedLeadership;
  }

  private takeConfiguration(): Configuration | undefined {
    const { current } = this.state.configurations;
    if (current === this.reportedConfiguration) return undefined;
    this.reportedConfiguration = current;
    return current;
  }
}
