/**
 * The loop around the core. Input (ticks, messages, proposals, finished writes) goes to the core
 * immediately; in the next microtask the replica takes the output and processes it: writes, sends,
 * delivers. So input of one turn is processed together, and no part waits for another.
 *
 * Invariants: one write at a time; only messages that the core has released are sent; after a
 * failure nothing is sent or written any more, and the process ends.
 */

import type { Logger, LoopClock } from '@orch/component';
import { minIndex, noTerm } from '../core/brands.js';
import type { Message } from '../core/messages.js';
import type { LocalEvent, Output, ReadRequest } from '../core/output.js';
import { RaftCore } from '../core/raft-core.js';
import type { CoreStatus } from '../core/status.js';
import type {
  Configuration,
  Entry,
  Leadership,
  LogIndex,
  MemberId,
  MembershipChange,
  SnapshotPoint,
  Term,
} from '../core/types.js';
import { latencyReportMs } from '../limits.js';
import type { LogObserver } from '../log-observer.js';
import { LogError, type LogErrorCode, type LogHandlers } from '../replicated-log.js';
import type { Transport } from '../transport/transport.js';
import { Deliverer } from './deliverer.js';
import { compactionIndex } from './disk/compaction-index.js';
import { LogWriter } from './disk/log-writer.js';
import { ChangeRequests } from './requests/change-requests.js';
import { CommitTimes } from './requests/commit-times.js';
import { ProposalBuffer } from './requests/proposal-buffer.js';
import type { PublishedIndex } from './requests/published-index.js';
import { ReadBarriers } from './requests/read-barriers.js';
import { PeerSnapshots } from './snapshots/peer-snapshots.js';
import type { OpenedDirectory } from './startup/open-directory.js';
import { coreOptions, type ReplicaTuning, tickMsOf } from './startup/replica-options.js';
import { Ticker } from './ticker.js';

export interface ReplicaDependencies {
  readonly opened: OpenedDirectory;
  readonly tuning: ReplicaTuning;
  readonly handlers: LogHandlers;
  /** Absent for a sole member without network. */
  readonly transport: Transport | undefined;
  readonly clock: LoopClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer: LogObserver | undefined;
  /** Receives the index for reads without a round. */
  readonly readIndex: PublishedIndex;
  /** Why writes cannot be taken now. */
  readonly reason: () => string | undefined;
  readonly onLeadership: (leadership: Leadership) => void;
  readonly onConfiguration: (configuration: Configuration) => void;
  /** In the order of the log; configurations that a snapshot skips are left out. */
  readonly onCommittedConfiguration: (configuration: Configuration) => void;
  readonly onFailed: (error: Error) => void;
}

export class Replica {
  readonly id: MemberId;
  readonly changes: ChangeRequests;
  readonly barriers: ReadBarriers;
  private readonly core: RaftCore;
  private readonly dependencies: ReplicaDependencies;
  private readonly writer: LogWriter;
  private readonly deliverer: Deliverer;
  private readonly snapshots: PeerSnapshots;
  private readonly ticker: Ticker;
  private readonly proposals: ProposalBuffer;
  private readonly commitTimes: CommitTimes;
  private latestLeadership: Leadership = { term: noTerm, leader: undefined, role: 'follower' };
  private installing: Promise<void> | undefined;
  private lastTickMs: number;
  private latencyReportedMs: number;
  private scheduled = false;
  /** Why it runs no more. */
  private ended: LogErrorCode | undefined;

  constructor(parts: ReplicaDependencies) {
    const { opened, tuning, handlers, transport, clock, random, logger, observer, reason } = parts;
    const { initial, stored, store } = opened;
    this.dependencies = parts;
    this.id = stored.identity.memberId;
    this.core = new RaftCore(coreOptions(tuning, this.id, random), initial);
    this.lastTickMs = clock.monotonicMs();
    this.latencyReportedMs = this.lastTickMs;
    this.changes = new ChangeRequests(clock);
    this.proposals = new ProposalBuffer(random);
    this.commitTimes = new CommitTimes(clock, observer);
    const wake = () => this.schedule();
    const onFailed = (what: string, error: unknown) => this.fail(what, error);
    this.barriers = new ReadBarriers(
      clock,
      random,
      wake,
      (context) => this.core.readIndex(context),
      reason,
    );
    this.writer = new LogWriter({
      store,
      clock,
      observer,
      onWritten: (id) => this.handle({ kind: 'written', id }),
      onFailed,
    });
    this.deliverer = new Deliverer(
      (entries) => handlers.onCommitted(entries),
      clock,
      (index) => this.handle({ kind: 'applied', index }),
      onFailed,
    );
    this.snapshots = new PeerSnapshots({
      transport,
      clock,
      logger,
      observer,
      core: this.core,
      store,
      snapshots: handlers.snapshots,
      leadingTerm: () => (this.isLeader && !this.ended ? this.latestLeadership.term : undefined),
      tell: (event) => this.handle(event),
    });
    this.ticker = new Ticker({
      clock,
      tickMs: tickMsOf(tuning),
      ticksUntilDue: () => this.ticksUntilDue,
      onTicks: (count, lateMs) => this.tick(count, lateMs),
    });
  }

  get proposalsBuffered(): number {
    return this.proposals.entryCount;
  }

  get leadership(): Leadership {
    return this.latestLeadership;
  }

  private get isLeader(): boolean {
    return this.latestLeadership.role === 'leader';
  }

  status(): CoreStatus {
    return this.core.status();
  }

  /** The newest configuration that is certain to stay. */
  committedConfiguration(): Configuration | undefined {
    return this.core.configurationAt(this.core.status().commitIndex);
  }

  /** As of the state; undefined when the log begins behind it. */
  appliedConfiguration(): Configuration | undefined {
    return this.core.configurationAt(this.core.status().appliedIndex);
  }

  run(): void {
    this.ticker.start();
    // A sole voter need not wait for other members.
    this.input(() => this.core.tick());
  }

  propose(id: number, command: Buffer): void {
    if (this.ended) this.proposals.refuse(id, 'Stopped');
    else this.proposals.add(id, command);
    this.schedule();
  }

  step(messages: readonly Message[]): void {
    if (this.ended) return;
    this.input(() => {
      for (const message of messages) this.core.step(message);
    });
  }

  handle(event: LocalEvent): void {
    if (this.ended) return;
    this.input(() => this.core.handle(event));
  }

  changeMembership(change: MembershipChange, deadlineMs: number): Promise<void> {
    return this.changes.ask(`the change of members (${change.kind})`, deadlineMs, (requestId) =>
      this.input(() => this.core.changeMembership(requestId, change)),
    );
  }

  transferLeadership(to: MemberId | undefined, deadlineMs: number): Promise<void> {
    return this.changes.ask('the transfer of the lead', deadlineMs, (requestId) =>
      this.input(() => this.core.transferLeadership(requestId, to)),
    );
  }

  /**
   * Entries up to `index` are in the state on disk: compacts the log as far as no member needs it.
   */
  async truncate(index: LogIndex): Promise<void> {
    if (this.ended) throw new LogError('Stopped', 'the log is not running');
    const { appliedIndex, firstIndex, progress } = this.status();
    const upTo = compactionIndex({
      // The event of the last applied entries may not have arrived yet.
      durableIndex: minIndex(index, appliedIndex),
      firstIndex,
      keepEntries: this.dependencies.tuning.logKeepEntries,
      progress,
      self: this.id,
      sendingIndex: this.snapshots.sendingIndex,
    });
    if (upTo === undefined || this.installing) return;
    const point = await this.writer.compact(upTo);
    if (point && point.index >= this.status().firstIndex) this.handle({ kind: 'compacted', point });
  }

  /** Resolves with whether the core installs the snapshot that lies ready. */
  offerSnapshot(from: MemberId, term: Term, point: SnapshotPoint): Promise<boolean> {
    if (this.ended) return Promise.resolve(false);
    return this.snapshots.offer(from, term, point);
  }

  /** Stops all output; the process is to end. */
  fail(what: string, error: unknown): void {
    if (this.ended) return;
    const cause = error instanceof Error ? error : new Error(String(error));
    this.end('Stopped');
    this.dependencies.onFailed(new Error(`${what}: ${cause.message}`, { cause }));
  }

  end(code: LogErrorCode): void {
    if (this.ended) return;
    this.ended = code;
    this.dependencies.readIndex.publish(undefined);
    this.ticker.stop();
    this.barriers.stop();
    this.changes.stop();
    this.snapshots.refuseAll();
    this.proposals.refuseAll(code);
    this.schedule();
  }

  /** Waits for operations in progress. */
  async settled(): Promise<void> {
    await this.snapshots.stop();
    await this.installing;
    await this.deliverer.stop();
    await this.writer.idle();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => this.runTurn());
  }

  private runTurn(): void {
    this.scheduled = false;
    if (!this.ended) {
      this.ticker.catchUp();
      this.guard(() => {
        const commands = this.proposals.takeCommands();
        if (commands.length > 0) this.core.propose(commands);
        this.catchUpTicks();
        this.barriers.flush();
        this.process(this.core.takeOutput());
        this.ticker.adjust();
      });
    }
    this.proposals.reportRefusals(this.dependencies.handlers, this.dependencies.reason);
  }

  private process(output: Output): void {
    const { transport, handlers, readIndex } = this.dependencies;
    readIndex.publish(this.core.soleReadIndex());
    if (output.messages.length > 0) transport?.send(output.messages);
    if (output.write) {
      if (this.isLeader) this.commitTimes.began(output.write.entries);
      this.writer.write(output.write);
    }
    for (const request of output.reads) void this.read(request);
    if (output.committed.length > 0) {
      this.commitTimes.committed(output.committed.at(-1)!.index);
      this.reportConfigurations(output.committed);
      this.deliverer.add(output.committed);
    }
    for (const { context, index } of output.readStates) this.barriers.answered(context, index);
    for (const { ids, code } of output.refusals) this.proposals.onCoreRefusal(ids, code);
    for (const result of output.membershipResults) this.changes.settle(result);
    for (const result of output.transferResults) this.changes.settle(result);
    for (const peer of output.snapshotsToSend) this.snapshots.send(peer);
    for (const point of output.snapshotsRefused) this.snapshots.settle(point, false);
    if (output.install) this.installing = this.install(output.install);
    if (output.configuration) this.dependencies.onConfiguration(output.configuration);
    if (output.leadership) {
      this.latestLeadership = output.leadership;
      this.commitTimes.clear();
      this.dependencies.onLeadership(output.leadership);
      handlers.onLeadership(output.leadership);
      this.barriers.leadershipChanged();
    }
  }

  private reportConfigurations(committed: readonly Entry[]): void {
    for (const { kind, index } of committed) {
      if (kind !== 'configuration') continue;
      this.dependencies.onCommittedConfiguration(this.core.configurationAt(index)!);
    }
  }

  /** A lease is for the time that passes, so that its ticks must not wait. */
  private get ticksUntilDue(): number {
    const { leaseReads } = this.dependencies.tuning;
    return leaseReads || this.barriers.isBusy ? 1 : this.core.ticksUntilDue;
  }

  /** `lateMs` undefined: counts ticks before other input, which takes the output. */
  private tick(count: number, lateMs: number | undefined): void {
    const nowMs = this.dependencies.clock.monotonicMs();
    this.lastTickMs = nowMs;
    const tickCore = () => {
      for (let done = 0; done < count; done += 1) this.core.tick();
    };
    if (lateMs === undefined) {
      this.guard(tickCore);
      return;
    }
    this.dependencies.observer?.loopDelayed(lateMs);
    this.barriers.tick();
    this.input(() => {
      tickCore();
      if (nowMs < this.latencyReportedMs + latencyReportMs) return;
      this.latencyReportedMs = nowMs;
      this.core.handle({ kind: 'diskLatency', p99Ms: this.writer.latency.p99Ms(nowMs) });
    });
  }

  /** A lease must not outlive the time for which the timers of a paused process were silent. */
  private catchUpTicks(): void {
    const { tuning, clock } = this.dependencies;
    if (!tuning.leaseReads || !this.isLeader) return;
    const tickMs = tickMsOf(tuning);
    const nowMs = clock.monotonicMs();
    const passed = Math.floor((nowMs - this.lastTickMs) / tickMs);
    if (passed < 2) return;
    this.lastTickMs = nowMs;
    const ticks = Math.min(passed, Math.ceil((2 * tuning.electionMs) / tickMs));
    for (let tick = 0; tick < ticks; tick += 1) this.core.tick();
  }

  private async read(request: ReadRequest): Promise<void> {
    const { from, to, bytesMax } = request;
    try {
      const entries = await this.dependencies.opened.store.read(from, to, bytesMax);
      this.handle({ kind: 'entriesRead', request, entries });
    } catch (error) {
      this.fail('reading the log failed', error);
    }
  }

  /** The state first, then the log: a start after a crash in between moves the log up. */
  private async install(point: SnapshotPoint): Promise<void> {
    this.snapshots.settle(point, true);
    const { handlers, logger } = this.dependencies;
    let moved = false;
    try {
      await this.deliverer.replacedUpTo(point.index, async () => {
        await handlers.snapshots.install(point);
        moved = await this.writer.moveTo(point);
      });
    } catch (error) {
      this.fail('installing a snapshot failed', error);
    }
    if (!moved) return;
    this.installing = undefined;
    this.handle({ kind: 'snapshotInstalled', point });
    this.dependencies.onCommittedConfiguration(point.configuration);
    logger.info({ index: point.index, term: point.term }, 'snapshot installed');
  }

  /** A broken invariant ends the process. */
  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.fail('consensus failed', error);
    }
  }

  /** Passes input to the core; its output is taken in the next microtask. */
  private input(action: () => void): void {
    this.ticker.catchUp();
    this.guard(action);
    this.schedule();
  }
}
