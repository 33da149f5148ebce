/**
 * The consensus of one replica, as a pure state machine: messages, events and ticks go in; `takeOutput`
 * hands over everything to do. No promises, timers, clocks or chance of its own, so that one seed of a
 * simulation is one exact run. A broken invariant is thrown (InvariantError) and must end the process.
 */
import type { LogIndex } from '../replicated-log.js';
import { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { Delivery } from './delivery.js';
import { Follower } from './follower.js';
import { ForwardedReads } from './forwarded-reads.js';
import { invariant } from './invariant.js';
import { refuseChange } from './membership-changes.js';
import { MessageRouter } from './message-router.js';
import { forwardCommands, refuseCommands } from './proposals.js';
import { Roles } from './roles.js';
import { Snapshots } from './snapshots.js';
import { type CoreStatus, describeStatus } from './status.js';
import { Transfers } from './transfers.js';
import type {
  Configuration,
  CoreOptions,
  ForwardedCommand,
  InitialState,
  Leadership,
  LocalEvent,
  LogPoint,
  MemberId,
  MembershipChange,
  Message,
  Output,
} from './types.js';

export class RaftCore {
  readonly #state: CoreState;
  readonly #roles: Roles;
  readonly #router: MessageRouter;
  readonly #delivery: Delivery;
  readonly #snapshots: Snapshots;
  readonly #transfers: Transfers;
  readonly #forwardedReads: ForwardedReads;
  #reportedLeadership: Leadership | undefined;
  #reportedConfiguration: Configuration | undefined;

  constructor(options: CoreOptions, initial: InitialState) {
    invariant(
      options.electionTicks > options.heartbeatTicks && options.heartbeatTicks >= 1,
      'the election timeout must be longer than the heartbeat interval',
    );
    const state = new CoreState(options, initial);
    this.#state = state;
    this.#delivery = new Delivery(
      state,
      initial.needsSnapshot ? (0 as LogIndex) : initial.appliedIndex,
    );
    const follower = new Follower(state);
    this.#snapshots = new Snapshots(state, follower, this.#delivery);
    this.#transfers = new Transfers(state);
    this.#forwardedReads = new ForwardedReads(state);
    this.#roles = new Roles(state, this.#transfers, this.#forwardedReads);
    this.#router = new MessageRouter(state, this.#roles, follower, this.#forwardedReads);
  }

  /** A message of another replica; of any age, any number of times, in any order. */
  step(message: Message): void {
    this.#router.step(message);
  }

  /** What happened on this replica. */
  tell(event: LocalEvent): void {
    const state = this.#state;
    switch (event.kind) {
      case 'written':
        state.outbox.messages.push(...state.writes.written(event.id, state.term));
        this.#roles.elections.onWritten();
        this.#roles.leader?.onWritten();
        return;
      case 'entriesRead':
        if (event.request.peer === state.id) {
          this.#delivery.onEntriesRead(event.request, event.entries);
          return;
        }
        this.#roles.leader?.replication.onEntriesRead(event.request, event.entries);
        return;
      case 'applied':
        this.#delivery.onApplied(event.index);
        return;
      case 'cut':
        invariant(event.point.index <= state.appliedIndex, 'entries were cut before being applied');
        state.log.cutTo(event.point);
        state.configurations.cutTo(event.point.index);
        return;
      case 'snapshotSent':
        this.#roles.leader?.replication.onSnapshotSent(event.to, event.point);
        return;
      case 'snapshotReceived':
        this.#snapshots.onReceived(event.point, event.from, event.term);
        return;
      case 'snapshotInstalled':
        this.#snapshots.onInstalled(event.point);
        return;
      case 'peerUnreachable':
        this.#roles.leader?.replication.onUnreachable(event.peer);
        return;
      case 'admitted':
        state.admitted = true;
        return;
      case 'diskLatency':
        state.diskLatencyMs = event.p99Ms;
    }
  }

  /** The unit of all timeouts has passed. */
  tick(): void {
    const state = this.#state;
    state.tick += 1;
    if (!state.admitted) return;
    this.#forwardedReads.tick();
    this.#transfers.tick(this.#roles.leader?.replication);
    if (this.#roles.leader) this.#roles.leader.tick();
    else this.#roles.elections.tick();
  }

  /** Takes commands for the log, here or at the leader. Those refused for certain come as `refusals`. */
  propose(commands: readonly ForwardedCommand[]): void {
    const state = this.#state;
    if (this.#roles.leader) this.#roles.leader.propose(commands, state.id);
    else if (state.leader !== undefined) forwardCommands(state, commands, state.leader);
    else {
      mark('proposalNoLeader');
      refuseCommands(state, commands, state.id, 'NoLeader');
    }
  }

  /** Answered by `readStates`, always. `context` is the caller's and never used twice. */
  readIndex(context: number): void {
    if (this.#roles.leader) this.#roles.leader.read({ context, from: this.#state.id });
    else this.#forwardedReads.ask(context);
  }

  /** Answered by `membershipResults`, always. */
  changeMembership(requestId: number, change: MembershipChange): void {
    if (this.#roles.leader) {
      this.#roles.leader.changeMembership(requestId, change);
      return;
    }
    refuseChange(this.#state, requestId, 'NotLeader', 'this member does not lead');
  }

  /** Answered by `transferResults`, always. `to` undefined: the voter that is best prepared. */
  transferLeadership(requestId: number, to: MemberId | undefined): void {
    this.#transfers.request(requestId, to, this.#roles.leader?.replication);
  }

  /** Everything to do since the last call. */
  takeOutput(): Output {
    const state = this.#state;
    this.#roles.leader?.flush();
    const write = this.#snapshots.blocksWrites
      ? undefined
      : state.writes.take(state.hardState, state.log.last.index);
    const install = this.#snapshots.take();
    const committed = this.#delivery.take();
    state.log.evict(Math.min(state.commitIndex, state.writes.stableIndex) as LogIndex);
    return state.outbox.take({
      write,
      committed,
      install,
      leadership: this.#takeLeadership(),
      configuration: this.#takeConfiguration(),
    });
  }

  status(): CoreStatus {
    return describeStatus(this.#state, this.#roles.leader, this.#transfers.underWay);
  }

  /** The configuration as of an entry that is not cut off: what a snapshot up to there says of members. */
  configurationAt(index: LogIndex): Configuration | undefined {
    return this.#state.configurations.at(index);
  }

  /** Undefined: not in the log, or no longer in memory (then `LogStore.read` knows). */
  pointAt(index: LogIndex): LogPoint | undefined {
    const point = this.#state.log.pointAt(index);
    return point && { index: point.index, term: point.term, checksum: point.checksum };
  }

  #takeLeadership(): Leadership | undefined {
    const { term, leader, role } = this.#state;
    const before = this.#reportedLeadership;
    if (before?.term === term && before.leader === leader && before.role === role) return undefined;
    this.#reportedLeadership = { term, leader, role };
    return this.#reportedLeadership;
  }

  #takeConfiguration(): Configuration | undefined {
    const { current } = this.#state.configurations;
    if (current === this.#reportedConfiguration) return undefined;
    this.#reportedConfiguration = current;
    return current;
  }
}
