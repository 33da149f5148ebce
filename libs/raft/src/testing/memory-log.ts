/**
 * A log in memory for tests of what lies above it: one member, no disk, no time, and the faults
 * that matter there: proposals that vanish, are refused or commit twice, entries that a crash
 * loses, times without a quorum, changes of leadership, snapshots. `MemoryDisk` is what survives a
 * crash.
 */
import { asLogIndex, asMemberId, asTerm } from '../core/brands.js';
import type {
  Configuration,
  Leadership,
  LogIndex,
  Member,
  MemberId,
  MembershipChange,
  SnapshotPoint,
} from '../core/types.js';
import {
  type AppliedState,
  type CommittedEntry,
  LogError,
  type LogErrorCode,
  type LogHandlers,
  type LogStatus,
  MembershipError,
  type ReplicaStatus,
  type ReplicatedLog,
} from '../replicated-log.js';

export class MemoryDisk {
  firstIndex = 1;
  /** An empty one is an entry of the log's own. */
  readonly commands: Buffer[] = [];

  get lastIndex(): number {
    return this.firstIndex + this.commands.length - 1;
  }
}

export const memoryMember: Member = {
  id: asMemberId('00000000000000a1'),
  name: 'default',
  peerUrl: 'https://127.0.0.1:6480',
  clientUrl: 'https://127.0.0.1:6443',
};

interface Pending {
  readonly id: number;
  readonly command: Buffer;
}

export class MemoryReplicatedLog implements ReplicatedLog {
  /**
   * Set: proposals are refused with `NoLeader`, barriers reject with `NoQuorum`. Nothing is said of
   * the leader: call `lead`.
   */
  noQuorum = false;
  /** That many next proposals vanish: neither committed nor refused. */
  losing = 0;
  /** That many next proposals commit twice, as a proposal does that is repeated too early. */
  doubling = 0;
  /** The next proposals are refused with these codes, one each. */
  readonly refusing: LogErrorCode[] = [];
  readonly truncations: number[] = [];
  facts: Readonly<Record<string, string | number>> = {};
  configuration: Configuration = { voters: [memoryMember], learners: [] };
  private leadership: Leadership = { term: asTerm(1), leader: memoryMember.id, role: 'leader' };
  private pending: Pending[] = [];
  private handlers: LogHandlers | undefined;
  private delivered = 0;
  private flushing: Promise<void> | undefined;
  private held = false;
  private stopped = false;

  constructor(readonly disk: MemoryDisk = new MemoryDisk()) {}

  async start(state: AppliedState, handlers: LogHandlers): Promise<void> {
    const { disk } = this;
    const { installed } = state;
    if (installed !== undefined && installed.index > disk.lastIndex) this.moveTo(installed.index);
    if (!state.needsSnapshot) {
      if (state.appliedIndex > disk.lastIndex || state.appliedIndex + 1 < disk.firstIndex) {
        throw new LogError('Corrupt', `applied ${state.appliedIndex} is not within the log`);
      }
      this.delivered = state.appliedIndex;
    } else this.delivered = disk.lastIndex;
    this.handlers = handlers;
    queueMicrotask(() => handlers.onLeadership(this.leadership));
    this.flush();
  }

  propose(proposalId: number, command: Buffer): void {
    const refusal = this.refusal();
    if (refusal !== undefined) {
      queueMicrotask(() => this.handlers?.onRefused([proposalId], refusal));
      return;
    }
    if (this.losing > 0) {
      this.losing -= 1;
      return;
    }
    this.pending.push({ id: proposalId, command: Buffer.from(command) });
    this.flush();
  }

  localReadIndex(): undefined {
    return undefined;
  }

  readBarrier(_deadlineMs: number): Promise<LogIndex> {
    if (this.stopped) return Promise.reject(new LogError('Stopped', 'the log is stopped'));
    if (this.noQuorum) return Promise.reject(new LogError('NoQuorum', 'no quorum'));
    return Promise.resolve(asLogIndex(this.disk.lastIndex));
  }

  async truncate(index: LogIndex): Promise<void> {
    this.truncations.push(index);
    const count = index - this.disk.firstIndex + 1;
    if (count <= 0) return;
    this.disk.commands.splice(0, count);
    this.disk.firstIndex = index + 1;
  }

  status(): LogStatus {
    return {
      clusterId: '00000000000000c1',
      self: memoryMember,
      role: this.leadership.role,
      term: this.leadership.term,
      leader: this.leadership.leader,
      commitIndex: asLogIndex(this.disk.lastIndex),
      appliedIndex: asLogIndex(this.delivered),
      firstIndex: asLogIndex(this.disk.firstIndex),
      lastIndex: asLogIndex(this.disk.lastIndex),
      proposalsPending: this.pending.length,
      configuration: this.configuration,
      progress: [],
      sizeBytes: this.disk.commands.reduce((sum, command) => sum + command.length, 0),
      ...(this.noQuorum ? { unavailableReason: 'no quorum' } : {}),
    };
  }

  async changeMembership(change: MembershipChange, _deadlineMs: number): Promise<Configuration> {
    const { voters, learners } = this.configuration;
    if (change.kind === 'addLearner') {
      this.configuration = { voters, learners: [...learners, change.member] };
    } else if (change.kind === 'promote') {
      const member = learners.find(({ id }) => id === change.id);
      if (!member) throw new MembershipError('UnknownMember', `no learner ${change.id}`);
      const left = learners.filter(({ id }) => id !== change.id);
      this.configuration = { voters: [...voters, member], learners: left };
    } else {
      const changed = (member: Member): Member[] => {
        if (change.kind === 'remove') return member.id === change.id ? [] : [member];
        return [member.id === change.member.id ? change.member : member];
      };
      this.configuration = {
        voters: voters.flatMap(changed),
        learners: learners.flatMap(changed),
      };
    }
    this.appendEmpty();
    return this.configuration;
  }

  async transferLeadership(to: MemberId | undefined, _deadlineMs: number): Promise<void> {
    const { term } = this.leadership;
    this.lead({
      term: asTerm(term + 1),
      leader: asMemberId(to ?? '00000000000000b1'),
      role: 'follower',
    });
  }

  async peerStatus(_deadlineMs: number): Promise<readonly ReplicaStatus[]> {
    return [{ member: memoryMember, status: this.status(), facts: this.facts }];
  }

  setFacts(facts: Readonly<Record<string, string | number>>): void {
    this.facts = facts;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.pending = [];
    await this.flushing;
  }

  /** Ends immediately: of the unwritten commands the first `kept` reach the disk without notice. */
  crash(kept = 0): void {
    this.stopped = true;
    for (const { command } of this.pending.splice(0, kept)) this.disk.commands.push(command);
    this.pending = [];
  }

  /** Changes the leadership and reports it. */
  lead(leadership: Leadership): void {
    this.leadership = leadership;
    this.handlers?.onLeadership(leadership);
  }

  /** An entry of the log's own. */
  appendEmpty(): void {
    this.disk.commands.push(Buffer.alloc(0));
    this.flush();
  }

  /** A command that another replica has proposed. */
  append(command: Buffer): void {
    this.disk.commands.push(command);
    this.flush();
  }

  /** While held, nothing is written or delivered. */
  hold(): void {
    this.held = true;
  }

  release(): void {
    this.held = false;
    this.flush();
  }

  /** Sends the state as a leader would: all chunks, and the applied index. */
  async takeSnapshot(): Promise<{ chunks: Buffer[]; appliedIndex: LogIndex }> {
    const outgoing = await this.handlers!.snapshots.open();
    const chunks: Buffer[] = [];
    try {
      for (let chunk = await outgoing.next(); chunk; chunk = await outgoing.next()) {
        chunks.push(chunk);
      }
    } finally {
      await outgoing.close();
    }
    return { chunks, appliedIndex: outgoing.appliedIndex };
  }

  /** Receives and installs such a state, as a replica does that is too far behind. */
  async giveSnapshot(chunks: readonly Buffer[]): Promise<SnapshotPoint> {
    const { snapshots } = this.handlers!;
    const incoming = await snapshots.receive();
    for (const chunk of chunks) await incoming.write(chunk);
    const { appliedIndex } = await incoming.finish();
    const { configuration } = this;
    const point: SnapshotPoint = {
      index: appliedIndex,
      term: asTerm(1),
      checksum: 0,
      configuration,
    };
    await this.flushing;
    await snapshots.install(point);
    if (appliedIndex > this.disk.lastIndex) this.moveTo(appliedIndex);
    this.delivered = appliedIndex;
    this.flush();
    return point;
  }

  private refusal(): LogError | undefined {
    if (this.stopped || !this.handlers) return new LogError('Stopped', 'the log is not running');
    const code = this.refusing.shift();
    if (code !== undefined) return new LogError(code, `refused by the test: ${code}`);
    return this.noQuorum ? new LogError('NoLeader', 'no leader is known') : undefined;
  }

  private moveTo(index: number): void {
    this.disk.commands.length = 0;
    this.disk.firstIndex = index + 1;
  }

  private flush(): void {
    if (!this.handlers || this.stopped || this.held) return;
    this.flushing ??= this.deliver();
  }

  private async deliver(): Promise<void> {
    const { disk } = this;
    await new Promise((resolve) => setImmediate(resolve));
    while (!this.stopped && !this.held) {
      for (const { command } of this.pending.splice(0)) {
        disk.commands.push(command);
        if (this.doubling === 0) continue;
        this.doubling -= 1;
        disk.commands.push(command);
      }
      if (this.delivered >= disk.lastIndex) break;
      const entries: CommittedEntry[] = disk.commands
        .slice(this.delivered + 1 - disk.firstIndex)
        .map((command, at) => ({ index: asLogIndex(this.delivered + 1 + at), command }));
      this.delivered = disk.lastIndex;
      const held = this.handlers!.onCommitted(entries);
      if (held) await held;
    }
    this.flushing = undefined;
  }
}
