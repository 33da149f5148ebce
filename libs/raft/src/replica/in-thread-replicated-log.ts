/**
 * The replicated log on the caller's thread: one replica with its disk and its network. Opens the
 * directory, runs the replica, sets its peers, serves operator requests. `WorkerReplicatedLog` runs
 * the same on a worker thread.
 */
import type { Logger, LoopClock } from '@orch/component';
import { membersOf } from '../core/configuration/members.js';
import type {
  Configuration,
  Leadership,
  LogIndex,
  Member,
  MemberId,
  MembershipChange,
} from '../core/types.js';
import { removedGraceMs } from '../limits.js';
import type { LogObserver } from '../log-observer.js';
import {
  type AppliedState,
  LogError,
  type LogHandlers,
  type LogStatus,
  type ReplicaStatus,
  type ReplicatedLog,
} from '../replicated-log.js';
import type { LogStore } from '../storage/log-store.js';
import type { OperatorRequest, Transport, TransportHandlers } from '../transport/transport.js';
import { SizeLookup } from './disk/size-lookup.js';
import { Admission } from './peers/admission.js';
import { handleOperatorRequest, type OperatorDependencies, operate } from './peers/operator.js';
import { requestStatuses } from './peers/peer-statuses.js';
import { Unavailability } from './peers/unavailability.js';
import { Replica } from './replica.js';
import { PublishedIndex } from './requests/published-index.js';
import { SnapshotReceiver } from './snapshots/snapshot-receiver.js';
import { type OpenedDirectory, openDirectory } from './startup/open-directory.js';
import {
  checkTuning,
  defaultReplicaTuning,
  type ReplicaIdentityOptions,
  type ReplicaTuning,
} from './startup/replica-options.js';

export interface InThreadReplicatedLogDependencies {
  readonly identity: ReplicaIdentityOptions;
  readonly tuning?: Partial<ReplicaTuning>;
  /** Creates a new, closed store: a start may have to open it twice. */
  readonly openStore: () => LogStore;
  /** Absent for a sole member without network. */
  readonly transport?: Transport;
  readonly clock: LoopClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer?: LogObserver;
  /** Where another thread finds the index for reads without a round. */
  readonly readIndex?: PublishedIndex;
  /** Must end the process. Called at most once. */
  readonly onFatal: (error: Error) => void;
}

/** What exists once the directory is open. */
interface Running {
  readonly opened: OpenedDirectory;
  readonly replica: Replica;
  readonly admission: Admission;
  readonly receiver: SnapshotReceiver;
  readonly unavailability: Unavailability;
  readonly size: SizeLookup;
}

export class InThreadReplicatedLog implements ReplicatedLog {
  private readonly options: InThreadReplicatedLogDependencies;
  private readonly tuning: ReplicaTuning;
  private readonly readIndex: PublishedIndex;
  private running: Running | undefined;
  private facts: Readonly<Record<string, string | number>> = {};
  private failed: string | undefined;
  private started = false;
  private stopping: Promise<void> | undefined;

  constructor(options: InThreadReplicatedLogDependencies) {
    this.options = options;
    this.readIndex = options.readIndex ?? new PublishedIndex();
    this.tuning = { ...defaultReplicaTuning, ...options.tuning };
    checkTuning(this.tuning);
  }

  async start(state: AppliedState, handlers: LogHandlers): Promise<void> {
    if (this.started) throw new LogError('Stopped', 'a log is started once');
    this.started = true;
    const { transport, logger } = this.options;
    const opened = await openDirectory({ ...this.options, transport }, state);
    const running = this.assemble(opened, handlers);
    this.running = running;
    const { replica, admission } = running;
    try {
      await transport?.start(() => admission.greeting(), this.transportHandlers(running));
      await running.size.measure();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.connect(running, replica.status().configuration);
    replica.run();
    running.size.start();
    const { clusterId, memberId } = opened.stored.identity;
    const { start, last } = opened.initial;
    logger.info(
      { clusterId, memberId, start: start.index, last: last.index, applied: state.appliedIndex },
      'replica runs',
    );
  }

  propose(proposalId: number, command: Buffer): void {
    this.run().replica.propose(proposalId, command);
  }

  localReadIndex(): LogIndex | undefined {
    return this.readIndex.read();
  }

  readBarrier(deadlineMs: number): Promise<LogIndex> {
    return this.running?.replica.barriers.read(deadlineMs) ?? Promise.reject(notStarted());
  }

  async truncate(index: LogIndex): Promise<void> {
    await this.run().replica.truncate(index);
  }

  changeMembership(change: MembershipChange, deadlineMs: number): Promise<Configuration> {
    return this.operate({ kind: 'changeMembership', change }, deadlineMs);
  }

  async transferLeadership(to: MemberId | undefined, deadlineMs: number): Promise<void> {
    await this.operate({ kind: 'transferLeadership', to }, deadlineMs);
  }

  async peerStatus(deadlineMs: number): Promise<readonly ReplicaStatus[]> {
    const { replica } = this.run();
    const others = membersOf(replica.status().configuration).filter(({ id }) => id !== replica.id);
    return [
      this.ownStatus(),
      ...(await requestStatuses(others, this.options.transport, deadlineMs)),
    ];
  }

  setFacts(facts: Readonly<Record<string, string | number>>): void {
    this.facts = facts;
  }

  status(): LogStatus {
    const { replica, opened, size } = this.run();
    const core = replica.status();
    const isLeader = core.role === 'leader';
    const reason = this.reason();
    return {
      clusterId: opened.stored.identity.clusterId,
      self: this.self(),
      role: core.role,
      term: core.term,
      leader: core.leader,
      commitIndex: core.commitIndex,
      appliedIndex: core.appliedIndex,
      firstIndex: core.firstIndex,
      lastIndex: core.lastIndex,
      proposalsPending:
        replica.proposalsBuffered + (isLeader ? core.lastIndex - core.commitIndex : 0),
      configuration: core.configuration,
      progress: core.progress,
      sizeBytes: size.bytes,
      ...(reason === undefined ? {} : { unavailableReason: reason }),
    };
  }

  stop(): Promise<void> {
    this.stopping ??= this.shutDown();
    return this.stopping;
  }

  private async shutDown(): Promise<void> {
    const running = this.running;
    running?.replica.end('Stopped');
    await this.options.transport?.stop();
    if (!running) return;
    await running.receiver.stop();
    await running.replica.settled();
    await running.opened.store.close();
  }

  private assemble(opened: OpenedDirectory, handlers: LogHandlers): Running {
    const { clock, random, logger, observer, transport } = this.options;
    const { stored, store } = opened;
    const unavailability = new Unavailability(clock);
    const replica = new Replica({
      opened,
      tuning: this.tuning,
      handlers,
      transport,
      clock,
      random,
      logger,
      observer,
      readIndex: this.readIndex,
      reason: () => this.reason(),
      onLeadership: (leadership) => this.led(leadership),
      onConfiguration: (configuration) => this.connect(this.run(), configuration),
      onCommittedConfiguration: (configuration) => this.run().admission.committed(configuration),
      onFailed: (error) => this.fail(error),
    });
    const admission = new Admission({
      identity: stored.identity,
      store,
      logger,
      peers: stored.peers,
      admitted: stored.admitted,
      appliedConfiguration: replica.appliedConfiguration(),
      configurations: () => {
        const latest = replica.status().configuration;
        return { latest, committed: replica.committedConfiguration() ?? latest };
      },
      onAdmitted: () => replica.handle({ kind: 'admitted' }),
      onExcluded: (error) => {
        replica.end('Removed');
        this.fail(error);
      },
      onFailed: (what, error) => replica.fail(what, error),
    });
    const receiver = new SnapshotReceiver({
      receive: () => handlers.snapshots.receive(),
      clock,
      logger,
      observer,
      position: () => replica.status(),
      needsSnapshot: () => replica.status().needsSnapshot,
      offer: (from, term, point) => replica.offerSnapshot(from, term, point),
    });
    const isRunning = () => !this.stopping && this.failed === undefined;
    const size = new SizeLookup(store, clock, logger, isRunning);
    return { opened, replica, admission, receiver, unavailability, size };
  }

  private transportHandlers(running: Running): TransportHandlers {
    const { replica, admission, receiver, unavailability } = running;
    return {
      onGreeting: (greeting) => admission.answer(greeting),
      onAnswer: (peer, answer) => {
        if (answer.kind === 'welcome') unavailability.reached(peer);
        admission.answered(peer, answer);
      },
      onMessages: (messages) => replica.step(messages),
      onUnreachable: (peer, { reason, connected }) => {
        unavailability.unreachable(peer, reason);
        replica.handle({ kind: 'peerUnreachable', peer, connected });
      },
      onSnapshot: (from, term, point, chunks) => receiver.receive(from, term, point, chunks),
      onStatusRequest: () => this.ownStatus(),
      onOperatorRequest: (request, deadlineMs) =>
        handleOperatorRequest(this.operatorParts(running), request, deadlineMs),
      onRoundTrip: (peer, durationMs) => this.options.observer?.roundTrip(peer, durationMs),
    };
  }

  private operate(request: OperatorRequest, deadlineMs: number): Promise<Configuration> {
    return operate(this.operatorParts(this.run()), request, deadlineMs);
  }

  private operatorParts({ replica }: Running): OperatorDependencies {
    return {
      self: replica.id,
      transport: this.options.transport,
      clock: this.options.clock,
      leader: () => replica.status().leader,
      perform: async (request, deadlineMs) => {
        if (request.kind === 'changeMembership') {
          await replica.changeMembership(request.change, deadlineMs);
        } else await replica.transferLeadership(request.to, deadlineMs);
        return replica.status().configuration;
      },
    };
  }

  private led(leadership: Leadership): void {
    const { logger, observer, clock } = this.options;
    this.run().unavailability.led(leadership);
    observer?.leadershipChanged(leadership);
    logger.info({ ...leadership }, 'leadership changed');
    if (leadership.role !== 'removed') return;
    clock.setTimer(removedGraceMs, () => {
      this.run().replica.end('Removed');
      this.fail(new LogError('Removed', 'this member was removed from the cluster'));
    });
  }

  private connect({ replica, unavailability }: Running, configuration: Configuration): void {
    const { peerUrl } = this.options.identity;
    // A former member at this replica's address no longer exists: a call there would reach this
    // replica.
    const others = membersOf(configuration).filter(
      (member) => member.id !== replica.id && member.peerUrl !== peerUrl,
    );
    unavailability.keepOnly(others);
    this.options.transport?.setPeers(others);
  }

  private reason(): string | undefined {
    const { replica, admission, unavailability } = this.run();
    return unavailability.reason({
      failed: this.failed ?? (this.stopping ? 'the log is stopping' : undefined),
      leadership: replica.leadership,
      missing: admission.missing(),
      foreign: admission.foreign,
      needsSnapshot: replica.status().needsSnapshot,
      members: membersOf(replica.status().configuration).filter(({ id }) => id !== replica.id),
    });
  }

  private fail(error: Error): void {
    if (this.failed !== undefined || this.stopping) return;
    this.failed = error.message;
    this.options.onFatal(error);
  }

  private ownStatus(): ReplicaStatus {
    return { member: this.self(), status: this.status(), facts: this.facts };
  }

  private self(): Member {
    return this.run().opened.self;
  }

  private run(): Running {
    if (!this.running) throw notStarted();
    return this.running;
  }
}

function notStarted(): LogError {
  return new LogError('Stopped', 'the log has not been started');
}
