/**
 * The one loop around the core: whatever comes in (ticks, messages, proposals, ends of writes) is told to
 * the core at once; in the next microtask its output is taken and carried out: written, sent, delivered.
 * So what comes in together goes on together, and no part waits for another.
 *
 * Invariants: one write at a time; nothing is sent but what the core has released; after a failure nothing
 * is sent or written any more, and the process ends.
 */
import type { Logger, LoopClock } from '@orch/component';
import { RaftCore } from '../core/raft-core.js';
import type { CoreStatus } from '../core/status.js';
import type {
  Configuration,
  Entry,
  Leadership,
  LocalEvent,
  MemberId,
  MembershipChange,
  Message,
  Output,
  ReadRequest,
  SnapshotPoint,
  Term,
} from '../core/types.js';
import { LATENCY_TOLD_MS } from '../limits.js';
import type { LogObserver } from '../log-observer.js';
import { LogError, type LogErrorCode, type LogHandlers, type LogIndex } from '../replicated-log.js';
import type { Transport } from '../transport/transport.js';
import { ChangeRequests } from './change-requests.js';
import { CommitTimes } from './commit-times.js';
import { Deliverer } from './deliverer.js';
import { cutIndex } from './log-cutter.js';
import { LogWriter } from './log-writer.js';
import type { OpenedDirectory } from './open-directory.js';
import { PeerSnapshots } from './peer-snapshots.js';
import { ProposalBuffer } from './proposal-buffer.js';
import { ReadRounds } from './read-rounds.js';
import { coreOptions, type ReplicaTuning, tickMsOf } from './replica-options.js';
import { Ticker } from './ticker.js';

export interface ReplicaParts {
  readonly opened: OpenedDirectory;
  readonly tuning: ReplicaTuning;
  readonly handlers: LogHandlers;
  /** Absent for a sole member that listens to nobody. */
  readonly transport: Transport | undefined;
  readonly clock: LoopClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer: LogObserver | undefined;
  /** Why writes cannot be taken now. */
  readonly reason: () => string | undefined;
  readonly onLeadership: (leadership: Leadership) => void;
  readonly onConfiguration: (configuration: Configuration) => void;
  /** Each in the order of the log; those that a snapshot jumps over are left out. */
  readonly onCommittedConfiguration: (configuration: Configuration) => void;
  readonly onFailed: (error: Error) => void;
}

export class Replica {
  readonly id: MemberId;
  readonly changes: ChangeRequests;
  readonly rounds: ReadRounds;
  readonly #core: RaftCore;
  readonly #parts: ReplicaParts;
  readonly #writer: LogWriter;
  readonly #deliverer: Deliverer;
  readonly #snapshots: PeerSnapshots;
  readonly #ticker: Ticker;
  readonly #proposals: ProposalBuffer;
  readonly #commitTimes: CommitTimes;
  #leadership: Leadership = { term: 0, leader: undefined, role: 'follower' };
  #installing: Promise<void> | undefined;
  #lastTickMs: number;
  #latencyToldMs: number;
  #woken = false;
  /** Why it runs no more. */
  #ended: LogErrorCode | undefined;

  constructor(parts: ReplicaParts) {
    const { opened, tuning, handlers, transport, clock, random, logger, observer, reason } = parts;
    const { initial, stored, store } = opened;
    this.#parts = parts;
    this.id = stored.identity.memberId;
    this.#core = new RaftCore(coreOptions(tuning, this.id, random), initial);
    this.#lastTickMs = clock.monotonicMs();
    this.#latencyToldMs = this.#lastTickMs;
    this.changes = new ChangeRequests(clock);
    this.#proposals = new ProposalBuffer(random);
    this.#commitTimes = new CommitTimes(clock, observer);
    const wake = () => this.#wake();
    const onFailed = (what: string, error: unknown) => this.fail(what, error);
    this.rounds = new ReadRounds(
      clock,
      random,
      wake,
      (context) => this.#core.readIndex(context),
      reason,
    );
    this.#writer = new LogWriter({
      store,
      clock,
      observer,
      onWritten: (id) => this.tell({ kind: 'written', id }),
      onFailed,
    });
    this.#deliverer = new Deliverer(
      (entries) => handlers.onCommitted(entries),
      clock,
      (index) => this.tell({ kind: 'applied', index }),
      onFailed,
    );
    this.#snapshots = new PeerSnapshots({
      transport,
      clock,
      logger,
      observer,
      core: this.#core,
      store,
      snapshots: handlers.snapshots,
      leadingTerm: () => (this.#isLeader && !this.#ended ? this.#leadership.term : undefined),
      tell: (event) => this.tell(event),
    });
    this.#ticker = new Ticker(clock, tickMsOf(tuning), (lateMs) => this.#tick(lateMs));
  }

  get proposalsBuffered(): number {
    return this.#proposals.entryCount;
  }

  get leadership(): Leadership {
    return this.#leadership;
  }

  get #isLeader(): boolean {
    return this.#leadership.role === 'leader';
  }

  status(): CoreStatus {
    return this.#core.status();
  }

  /** The newest configuration that is certain to stay. */
  committedConfiguration(): Configuration | undefined {
    return this.#core.configurationAt(this.#core.status().commitIndex);
  }

  /** As of the state; undefined when the log begins behind it. */
  appliedConfiguration(): Configuration | undefined {
    return this.#core.configurationAt(this.#core.status().appliedIndex);
  }

  run(): void {
    this.#ticker.start();
    // A sole voter need not wait for anybody.
    this.#input(() => this.#core.tick());
  }

  propose(id: number, command: Buffer): void {
    if (this.#ended) this.#proposals.refuse(id, 'Stopped');
    else this.#proposals.add(id, command);
    this.#wake();
  }

  step(messages: readonly Message[]): void {
    if (this.#ended) return;
    this.#input(() => {
      for (const message of messages) this.#core.step(message);
    });
  }

  tell(event: LocalEvent): void {
    if (this.#ended) return;
    this.#input(() => this.#core.tell(event));
  }

  changeMembership(change: MembershipChange, deadlineMs: number): Promise<void> {
    return this.changes.ask(`the change of members (${change.kind})`, deadlineMs, (requestId) =>
      this.#input(() => this.#core.changeMembership(requestId, change)),
    );
  }

  transferLeadership(to: MemberId | undefined, deadlineMs: number): Promise<void> {
    return this.changes.ask('the transfer of the lead', deadlineMs, (requestId) =>
      this.#input(() => this.#core.transferLeadership(requestId, to)),
    );
  }

  /** Entries up to `index` are in the state on disk: cuts what nobody needs any more. */
  async truncate(index: LogIndex): Promise<void> {
    if (this.#ended) throw new LogError('Stopped', 'the log is not running');
    const { appliedIndex, firstIndex, progress } = this.status();
    const upTo = cutIndex({
      // Word of what was applied last may still be on its way here.
      durableIndex: Math.min(index, appliedIndex) as LogIndex,
      firstIndex,
      keepEntries: this.#parts.tuning.logKeepEntries,
      progress,
      self: this.id,
      sendingIndex: this.#snapshots.sendingIndex,
    });
    if (upTo === undefined || this.#installing) return;
    const point = await this.#writer.cut(upTo);
    if (point && point.index >= this.status().firstIndex) this.tell({ kind: 'cut', point });
  }

  /** Resolves with whether the core installs the snapshot that lies ready. */
  offerSnapshot(from: MemberId, term: Term, point: SnapshotPoint): Promise<boolean> {
    if (this.#ended) return Promise.resolve(false);
    return this.#snapshots.offer(from, term, point);
  }

  /** From here on nothing goes out; the process is to end. */
  fail(what: string, error: unknown): void {
    if (this.#ended) return;
    const cause = error instanceof Error ? error : new Error(String(error));
    this.end('Stopped');
    this.#parts.onFailed(new Error(`${what}: ${cause.message}`, { cause }));
  }

  end(code: LogErrorCode): void {
    if (this.#ended) return;
    this.#ended = code;
    this.#ticker.stop();
    this.rounds.stop();
    this.changes.stop();
    this.#snapshots.refuseAll();
    this.#proposals.refuseAll(code);
    this.#wake();
  }

  /** Lets what is under way end. */
  async settled(): Promise<void> {
    await this.#snapshots.stop();
    await this.#installing;
    await this.#deliverer.stop();
    await this.#writer.idle();
  }

  #wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    queueMicrotask(() => this.#turn());
  }

  #turn(): void {
    this.#woken = false;
    if (!this.#ended) {
      this.#guard(() => {
        const commands = this.#proposals.takeCommands();
        if (commands.length > 0) this.#core.propose(commands);
        this.#passTime();
        this.rounds.flush();
        this.#carryOut(this.#core.takeOutput());
      });
    }
    this.#proposals.tellRefusals(this.#parts.handlers, this.#parts.reason);
  }

  #carryOut(output: Output): void {
    const { transport, handlers } = this.#parts;
    if (output.messages.length > 0) transport?.send(output.messages);
    if (output.write) {
      if (this.#isLeader) this.#commitTimes.began(output.write.entries);
      this.#writer.write(output.write);
    }
    for (const request of output.reads) void this.#read(request);
    if (output.committed.length > 0) {
      this.#commitTimes.committed(output.committed.at(-1)!.index);
      this.#tellConfigurations(output.committed);
      this.#deliverer.add(output.committed);
    }
    for (const { context, index } of output.readStates) this.rounds.answered(context, index);
    for (const { ids, code } of output.refusals) this.#proposals.refusedByCore(ids, code);
    for (const result of output.membershipResults) this.changes.settle(result);
    for (const result of output.transferResults) this.changes.settle(result);
    for (const peer of output.snapshotsToSend) this.#snapshots.send(peer);
    for (const point of output.snapshotsRefused) this.#snapshots.settle(point, false);
    if (output.install) this.#installing = this.#install(output.install);
    if (output.configuration) this.#parts.onConfiguration(output.configuration);
    if (output.leadership) {
      this.#leadership = output.leadership;
      this.#commitTimes.clear();
      this.#parts.onLeadership(output.leadership);
      handlers.onLeadership(output.leadership);
      this.rounds.leadershipChanged();
    }
  }

  #tellConfigurations(committed: readonly Entry[]): void {
    for (const { kind, index } of committed) {
      if (kind !== 'configuration') continue;
      this.#parts.onCommittedConfiguration(this.#core.configurationAt(index)!);
    }
  }

  #tick(lateMs: number): void {
    const nowMs = this.#parts.clock.monotonicMs();
    this.#parts.observer?.loopDelayed(lateMs);
    this.#lastTickMs = nowMs;
    this.rounds.tick();
    this.#input(() => {
      this.#core.tick();
      if (nowMs < this.#latencyToldMs + LATENCY_TOLD_MS) return;
      this.#latencyToldMs = nowMs;
      this.#core.tell({ kind: 'diskLatency', p99Ms: this.#writer.latency.p99Ms(nowMs) });
    });
  }

  /** A lease must not outlive the time for which the timers of a paused process were silent. */
  #passTime(): void {
    const { tuning, clock } = this.#parts;
    if (!tuning.leaseReads || !this.#isLeader) return;
    const tickMs = tickMsOf(tuning);
    const nowMs = clock.monotonicMs();
    const passed = Math.floor((nowMs - this.#lastTickMs) / tickMs);
    if (passed < 2) return;
    this.#lastTickMs = nowMs;
    const ticks = Math.min(passed, Math.ceil((2 * tuning.electionMs) / tickMs));
    for (let tick = 0; tick < ticks; tick += 1) this.#core.tick();
  }

  async #read(request: ReadRequest): Promise<void> {
    const { from, to, bytesMax } = request;
    try {
      const entries = await this.#parts.opened.store.read(from, to, bytesMax);
      this.tell({ kind: 'entriesRead', request, entries });
    } catch (error) {
      this.fail('reading the log failed', error);
    }
  }

  /** The state first, then the log: a start after a crash in between moves the log up. */
  async #install(point: SnapshotPoint): Promise<void> {
    this.#snapshots.settle(point, true);
    const { handlers, logger } = this.#parts;
    let moved = false;
    try {
      await this.#deliverer.replacedUpTo(point.index, async () => {
        await handlers.snapshots.install(point);
        moved = await this.#writer.moveTo(point);
      });
    } catch (error) {
      this.fail('installing a snapshot failed', error);
    }
    if (!moved) return;
    this.#installing = undefined;
    this.tell({ kind: 'snapshotInstalled', point });
    this.#parts.onCommittedConfiguration(point.configuration);
    logger.info({ index: point.index, term: point.term }, 'snapshot installed');
  }

  /** A broken invariant ends the process. */
  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.fail('consensus cannot go on', error);
    }
  }

  /** Tells the core something, whose output is taken in the next microtask. */
  #input(action: () => void): void {
    this.#guard(action);
    this.#wake();
  }
}
