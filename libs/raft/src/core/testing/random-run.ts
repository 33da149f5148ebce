/**
 * One random run of a cluster of cores, the same for the same seed: loss, duplication, reordering,
 * partitions, restarts that lose unwritten data, slow writes, compaction, snapshots, membership
 * changes and leadership transfers. Checks after each step that no guarantee is broken.
 */

import { asTerm, noIndex } from '../brands.js';
import type { CoreOptions } from '../core-options.js';
import { invariant } from '../invariant.js';
import type { Message } from '../messages.js';
import type { Entry, LogIndex, MemberId, SnapshotPoint } from '../types.js';
import { mulberry32 } from './mulberry32.js';
import { Oracle } from './oracle.js';
import { member, memberId, testOptions, votersOf } from './test-cluster.js';
import { emptyConfiguration, emptyDisk, TestReplica } from './test-replica.js';

const networkMessagesMax = 400;
const membersMax = 7;

interface Transit {
  readonly from: TestReplica;
  readonly to: MemberId;
  readonly point: SnapshotPoint;
  readonly term: number;
}

interface Action {
  readonly weight: number;
  readonly act: (replica: TestReplica) => void;
}

export interface RunResult {
  readonly committedCount: number;
  readonly terms: number;
  readonly reads: number;
  readonly changes: number;
}

export class RandomRun {
  private readonly random: () => number;
  readonly replicas = new Map<MemberId, TestReplica>();
  readonly oracle = new Oracle();
  private network: Message[] = [];
  private snapshots: Transit[] = [];
  /** `from>to` pairs between which nothing passes. */
  private readonly blocked = new Set<string>();
  private readonly slowDisks = new Set<MemberId>();
  /** Its clock stands still and no message reaches it, but local callers may still call it. */
  private paused: MemberId | undefined;
  private lossShare: number;
  private duplicateShare: number;
  private commandId = 0;
  private nextContext = 1;
  private nextRequest = 1;
  private memberCount: number;
  private changes = 0;
  private reads = 0;
  private readonly actions: readonly Action[];
  private readonly weightSum: number;

  constructor(
    seed: number,
    voterCount: number,
    private readonly faults: { readonly restarts: boolean; readonly membership: boolean },
    private readonly options: Partial<CoreOptions> = {},
  ) {
    this.random = mulberry32(seed);
    this.lossShare = this.random() < 0.5 ? this.random() * 0.3 : 0;
    this.duplicateShare = this.random() < 0.5 ? this.random() * 0.3 : 0;
    this.memberCount = voterCount;
    const numbers = Array.from({ length: voterCount }, (_, at) => at + 1);
    for (const number of numbers) this.addReplica(number, emptyDisk(votersOf(...numbers)));
    this.actions = this.weigh();
    this.weightSum = this.actions.reduce((sum, action) => sum + action.weight, 0);
  }

  run(steps: number): RunResult {
    for (let step = 0; step < steps; step += 1) {
      this.step();
      this.oracle.check(this.replicas.values());
    }
    this.heal();
    return {
      committedCount: this.oracle.committedCount,
      terms: this.oracle.termCount,
      reads: this.reads,
      changes: this.changes,
    };
  }

  private step(): void {
    const replica = this.pick([...this.replicas.values()]);
    let dice = this.random() * this.weightSum;
    for (const { weight, act } of this.actions) {
      dice -= weight;
      if (dice >= 0) continue;
      act(replica);
      break;
    }
    this.pump(replica);
  }

  /** What may happen and how often; each fault is often, seldom or never there in one run. */
  private weigh(): Action[] {
    const fault = (weight: number): number =>
      this.random() < 0.3 ? 0 : weight * this.random() * 2;
    const { restarts, membership } = this.faults;
    return [
      { weight: 60, act: () => this.deliverOne() },
      { weight: 10 + this.random() * 20, act: (replica) => this.tick(replica) },
      { weight: 6 + this.random() * 14, act: (replica) => this.finishWrite(replica) },
      { weight: 4, act: (replica) => this.propose(replica) },
      { weight: 3, act: (replica) => this.read(replica) },
      { weight: 2 + this.random() * 8, act: (replica) => replica.apply() },
      { weight: 5, act: (replica) => this.finishIo(replica) },
      { weight: 2, act: () => this.deliverSnapshot() },
      { weight: 1, act: (replica) => this.flushAndCut(replica) },
      { weight: 0.4, act: () => this.blocked.clear() },
      { weight: fault(0.4), act: (replica) => this.toggleSlowDisk(replica) },
      { weight: fault(0.7), act: () => this.disturbNetwork() },
      { weight: fault(0.4), act: () => this.pauseOrResume() },
      { weight: fault(0.5), act: (replica) => this.breakStream(replica) },
      { weight: fault(0.3), act: (replica) => this.transfer(replica) },
      { weight: fault(0.3), act: (replica) => this.measureDisk(replica) },
      { weight: membership ? 1 : 0, act: (replica) => this.changeMembers(replica) },
      { weight: restarts ? fault(0.4) : 0, act: (replica) => this.restart(replica) },
      { weight: restarts ? fault(0.05) : 0, act: (replica) => this.damageState(replica) },
    ];
  }

  /** All replicas run without faults: a leader must commit, and all must become equal. */
  private heal(): void {
    this.lossShare = 0;
    this.duplicateShare = 0;
    this.blocked.clear();
    this.paused = undefined;
    let marker: LogIndex | undefined;
    for (let round = 0; round < 600; round += 1) {
      for (const replica of this.replicas.values()) {
        replica.core.tick();
        this.pump(replica);
      }
      this.drain();
      this.oracle.check(this.replicas.values());
      const leader = this.leader();
      if (leader && marker === undefined && round > 40) {
        this.propose(leader);
        this.pump(leader);
        marker = leader.core.status().lastIndex;
      }
      if (marker !== undefined && this.allApplied(marker)) return;
    }
    throw new Error('the healed cluster makes no progress');
  }

  private allApplied(index: LogIndex): boolean {
    const leader = this.leader();
    if (!leader) return false;
    const { configuration } = leader.core.status();
    if (configuration.outgoing) return false;
    const ids = [...configuration.voters, ...configuration.learners].map(({ id }) => id);
    return ids.every((id) => this.replicas.get(id)!.core.status().appliedIndex >= index);
  }

  private drain(): void {
    for (let turn = 0; turn < 5_000; turn += 1) {
      let busy = this.network.length > 0 || this.snapshots.length > 0;
      while (this.network.length > 0) this.deliverOne();
      while (this.snapshots.length > 0) this.deliverSnapshot();
      for (const replica of this.replicas.values()) {
        busy ||= replica.write !== undefined || replica.reads.length > 0;
        busy ||= replica.install !== undefined;
        replica.finishWrite();
        while (replica.reads.length > 0) replica.finishRead();
        replica.finishInstall();
        replica.apply();
        this.pump(replica);
      }
      if (!busy) return;
    }
    throw new Error('the healed cluster does not come to rest');
  }

  private pump(replica: TestReplica): void {
    const before = replica.core.status();
    replica.pump();
    this.oracle.noteOutput(replica, before);
    for (const to of replica.snapshotsToSend.splice(0)) {
      const point = replica.makeSnapshot();
      if (point) this.snapshots.push({ from: replica, to, point, term: before.term });
      else replica.core.handle({ kind: 'snapshotSent', to, point: undefined });
    }
    for (const message of replica.outgoing.splice(0)) {
      if (this.random() < this.lossShare) continue;
      this.network.push(message);
      if (this.random() < this.duplicateShare) this.network.push(message);
    }
    while (this.network.length > networkMessagesMax) {
      this.network.splice(Math.floor(this.random() * this.network.length), 1);
    }
  }

  /** Mostly the oldest, sometimes any. */
  private deliverOne(): void {
    if (this.network.length === 0) return;
    const at = this.random() < 0.8 ? 0 : Math.floor(this.random() * this.network.length);
    const [message] = this.network.splice(at, 1);
    const to = this.replicas.get(message!.to);
    if (!to || to.id === this.paused || this.blocked.has(`${message!.from}>${message!.to}`)) return;
    to.core.step(message!);
    this.pump(to);
  }

  private deliverSnapshot(): void {
    const transit = this.snapshots.shift();
    if (!transit) return;
    const { from, to, point, term } = transit;
    const target = this.replicas.get(to);
    const blocked = this.blocked.has(`${from.id}>${to}`) || this.random() < this.lossShare;
    if (target && !blocked) {
      target.core.handle({ kind: 'snapshotReceived', point, from: from.id, term: asTerm(term) });
      this.pump(target);
    }
    const told = !blocked && !(this.random() < this.lossShare);
    from.core.handle({ kind: 'snapshotSent', to, point: told ? point : undefined });
    this.pump(from);
  }

  private propose(replica: TestReplica): void {
    const count = 1 + Math.floor(this.random() * 5);
    const commands = Array.from({ length: count }, () => {
      this.commandId += 1;
      const data = Buffer.alloc(8 + Math.floor(this.random() * 24));
      data.writeUInt32BE(this.commandId, 0);
      return { id: this.commandId, data };
    });
    replica.core.propose(commands);
  }

  private read(replica: TestReplica): void {
    const context = this.nextContext;
    this.nextContext += 1;
    this.reads += 1;
    this.oracle.beginRead(replica.id, context);
    replica.core.readIndex(context);
  }

  private tick(replica: TestReplica): void {
    if (replica.id !== this.paused) replica.core.tick();
  }

  private pauseOrResume(): void {
    this.paused = this.paused === undefined ? this.leader()?.id : undefined;
  }

  /** A slow disk finishes one write where a quick one finishes ten. */
  private finishWrite(replica: TestReplica): void {
    if (!this.slowDisks.has(replica.id) || this.random() < 0.1) replica.finishWrite();
  }

  private toggleSlowDisk(replica: TestReplica): void {
    if (!this.slowDisks.delete(replica.id)) this.slowDisks.add(replica.id);
  }

  private finishIo(replica: TestReplica): void {
    replica.finishRead();
    replica.finishInstall();
  }

  private flushAndCut(replica: TestReplica): void {
    replica.flushState();
    if (this.random() < 0.5) replica.cut(Math.floor(this.random() * 10));
  }

  private transfer(replica: TestReplica): void {
    const to = this.random() < 0.5 ? undefined : this.anyId();
    this.nextRequest += 1;
    replica.core.transferLeadership(this.nextRequest, to);
  }

  private changeMembers(replica: TestReplica): void {
    const { configuration } = replica.core.status();
    this.nextRequest += 1;
    const dice = this.random();
    const learner = configuration.learners[0];
    if (dice < 0.35 && this.memberCount < membersMax && replica.core.status().role === 'leader') {
      this.memberCount += 1;
      const number = this.memberCount;
      this.addReplica(number, emptyDisk(emptyConfiguration));
      replica.core.changeMembership(this.nextRequest, {
        kind: 'addLearner',
        member: member(number),
      });
    } else if (dice < 0.75 && learner) {
      replica.core.changeMembership(this.nextRequest, { kind: 'promote', id: learner.id });
    } else if (dice < 0.95 && configuration.voters.length > 2) {
      const { id } = this.pick(configuration.voters);
      replica.core.changeMembership(this.nextRequest, { kind: 'remove', id });
    } else if (configuration.voters.length > 0) {
      const updated = { ...this.pick(configuration.voters), clientUrl: `https://c${dice}` };
      replica.core.changeMembership(this.nextRequest, { kind: 'update', member: updated });
    }
    this.changes += 1;
  }

  private restart(replica: TestReplica): void {
    this.snapshots = this.snapshots.filter((transit) => transit.from !== replica);
    this.oracle.forgetReads(replica.id);
    replica.restart(this.random() < 0.5);
  }

  /** One at a time: some replica must have a state to send. */
  private damageState(replica: TestReplica): void {
    for (const other of this.replicas.values()) if (other.disk.needsSnapshot) return;
    replica.disk.needsSnapshot = true;
    replica.disk.appliedIndex = noIndex;
    this.restart(replica);
  }

  private breakStream(replica: TestReplica): void {
    const peer = this.anyId();
    this.network = this.network.filter(({ from, to }) => from !== replica.id || to !== peer);
    replica.core.handle({ kind: 'peerUnreachable', peer, connected: this.random() < 0.2 });
  }

  private measureDisk(replica: TestReplica): void {
    replica.core.handle({ kind: 'diskLatency', p99Ms: 1 + this.random() * 1_000 });
  }

  private disturbNetwork(): void {
    const ids = [...this.replicas.keys()];
    const dice = this.random();
    if (dice < 0.4) {
      const alone = this.leader()?.id ?? this.pick(ids);
      for (const id of ids) this.block(alone, id, this.random() < 0.8, this.random() < 0.8);
    } else if (dice < 0.7) {
      const half = new Set(ids.filter(() => this.random() < 0.5));
      for (const from of ids) {
        for (const to of ids)
          if (half.has(from) !== half.has(to)) this.blocked.add(`${from}>${to}`);
      }
    } else this.block(this.pick(ids), this.pick(ids), true, false);
  }

  private block(one: MemberId, other: MemberId, out: boolean, back: boolean): void {
    if (one === other) return;
    if (out) this.blocked.add(`${one}>${other}`);
    if (back) this.blocked.add(`${other}>${one}`);
  }

  private addReplica(number: number, disk: ReturnType<typeof emptyDisk>): void {
    const id = memberId(number);
    const options: CoreOptions = {
      ...testOptions,
      electionTicks: 5,
      idleHeartbeatTicks: 2,
      cacheEntriesMax: 20,
      appendEntriesMax: 8,
      inFlightMessagesMax: 4,
      unappliedEntriesMax: 30,
      random: this.random,
      ...this.options,
      id,
    };
    const onCommitted = (entry: Entry): void => this.oracle.noteDelivered(id, entry);
    this.replicas.set(id, new TestReplica(id, disk, options, onCommitted));
  }

  private leader(): TestReplica | undefined {
    let best: TestReplica | undefined;
    for (const replica of this.replicas.values()) {
      if (replica.core.status().role !== 'leader') continue;
      if (!best || replica.core.status().term > best.core.status().term) best = replica;
    }
    return best;
  }

  private anyId(): MemberId {
    return this.pick([...this.replicas.keys()]);
  }

  private pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.random() * items.length)];
    invariant(item !== undefined, 'nothing to pick from');
    return item;
  }
}
