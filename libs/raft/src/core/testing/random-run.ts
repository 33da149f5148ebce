/**
 * One random run of a cluster of cores, the same for the same seed: loss, duplication, reordering,
 * partitions, restarts that keep only what is on disk, slow writes, cut logs, snapshots, changes of
 * members and of the leader. Checks after each step that nothing which was promised is broken.
 */
import type { LogIndex } from '../../replicated-log.js';
import { invariant } from '../invariant.js';
import type { CoreOptions, Entry, MemberId, Message, SnapshotPoint } from '../types.js';
import { mulberry32 } from './mulberry32.js';
import { Oracle } from './oracle.js';
import { member, memberId, TEST_OPTIONS, votersOf } from './test-cluster.js';
import { EMPTY_CONFIGURATION, emptyDisk, TestReplica } from './test-replica.js';

const NETWORK_MESSAGES_MAX = 400;
const MEMBERS_MAX = 7;

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
  readonly #random: () => number;
  readonly replicas = new Map<MemberId, TestReplica>();
  readonly oracle = new Oracle();
  #network: Message[] = [];
  #snapshots: Transit[] = [];
  /** `from>to` pairs between which nothing passes. */
  readonly #blocked = new Set<string>();
  readonly #slowDisks = new Set<MemberId>();
  /** Its clock stands still and nothing reaches it, but whoever is on that machine may ask it. */
  #paused: MemberId | undefined;
  #lossShare: number;
  #duplicateShare: number;
  #commandId = 0;
  #nextContext = 1;
  #nextRequest = 1;
  #memberCount: number;
  #changes = 0;
  #reads = 0;
  readonly #actions: readonly Action[];
  readonly #weightSum: number;

  constructor(
    seed: number,
    voterCount: number,
    private readonly faults: { readonly restarts: boolean; readonly membership: boolean },
    private readonly options: Partial<CoreOptions> = {},
  ) {
    this.#random = mulberry32(seed);
    this.#lossShare = this.#random() < 0.5 ? this.#random() * 0.3 : 0;
    this.#duplicateShare = this.#random() < 0.5 ? this.#random() * 0.3 : 0;
    this.#memberCount = voterCount;
    const numbers = Array.from({ length: voterCount }, (_, at) => at + 1);
    for (const number of numbers) this.#addReplica(number, emptyDisk(votersOf(...numbers)));
    this.#actions = this.#weigh();
    this.#weightSum = this.#actions.reduce((sum, action) => sum + action.weight, 0);
  }

  run(steps: number): RunResult {
    for (let step = 0; step < steps; step += 1) {
      this.#step();
      this.oracle.check(this.replicas.values());
    }
    this.#heal();
    return {
      committedCount: this.oracle.committedCount,
      terms: this.oracle.termCount,
      reads: this.#reads,
      changes: this.#changes,
    };
  }

  #step(): void {
    const replica = this.#pick([...this.replicas.values()]);
    let dice = this.#random() * this.#weightSum;
    for (const { weight, act } of this.#actions) {
      dice -= weight;
      if (dice >= 0) continue;
      act(replica);
      break;
    }
    this.#pump(replica);
  }

  /** What may happen and how often; each fault is often, seldom or never there in one run. */
  #weigh(): Action[] {
    const fault = (weight: number): number =>
      this.#random() < 0.3 ? 0 : weight * this.#random() * 2;
    const { restarts, membership } = this.faults;
    return [
      { weight: 60, act: () => this.#deliverOne() },
      { weight: 10 + this.#random() * 20, act: (replica) => this.#tick(replica) },
      { weight: 6 + this.#random() * 14, act: (replica) => this.#finishWrite(replica) },
      { weight: 4, act: (replica) => this.#propose(replica) },
      { weight: 3, act: (replica) => this.#read(replica) },
      { weight: 2 + this.#random() * 8, act: (replica) => replica.apply() },
      { weight: 5, act: (replica) => this.#finishIo(replica) },
      { weight: 2, act: () => this.#deliverSnapshot() },
      { weight: 1, act: (replica) => this.#flushAndCut(replica) },
      { weight: 0.4, act: () => this.#blocked.clear() },
      { weight: fault(0.4), act: (replica) => this.#toggleSlowDisk(replica) },
      { weight: fault(0.7), act: () => this.#disturbNetwork() },
      { weight: fault(0.4), act: () => this.#pauseOrResume() },
      { weight: fault(0.5), act: (replica) => this.#breakStream(replica) },
      { weight: fault(0.3), act: (replica) => this.#transfer(replica) },
      { weight: fault(0.3), act: (replica) => this.#measureDisk(replica) },
      { weight: membership ? 1 : 0, act: (replica) => this.#changeMembers(replica) },
      { weight: restarts ? fault(0.4) : 0, act: (replica) => this.#restart(replica) },
      { weight: restarts ? fault(0.05) : 0, act: (replica) => this.#damageState(replica) },
    ];
  }

  /** Everybody back, no faults: there must be a leader who commits, and all must become alike. */
  #heal(): void {
    this.#lossShare = 0;
    this.#duplicateShare = 0;
    this.#blocked.clear();
    this.#paused = undefined;
    let marker: LogIndex | undefined;
    for (let round = 0; round < 600; round += 1) {
      for (const replica of this.replicas.values()) {
        replica.core.tick();
        this.#pump(replica);
      }
      this.#drain();
      this.oracle.check(this.replicas.values());
      const leader = this.#leader();
      if (leader && marker === undefined && round > 40) {
        this.#propose(leader);
        this.#pump(leader);
        marker = leader.core.status().lastIndex;
      }
      if (marker !== undefined && this.#allApplied(marker)) return;
    }
    throw new Error('the healed cluster makes no progress');
  }

  #allApplied(index: LogIndex): boolean {
    const leader = this.#leader();
    if (!leader) return false;
    const { configuration } = leader.core.status();
    if (configuration.outgoing) return false;
    const ids = [...configuration.voters, ...configuration.learners].map(({ id }) => id);
    return ids.every((id) => this.replicas.get(id)!.core.status().appliedIndex >= index);
  }

  #drain(): void {
    for (let turn = 0; turn < 5_000; turn += 1) {
      let busy = this.#network.length > 0 || this.#snapshots.length > 0;
      while (this.#network.length > 0) this.#deliverOne();
      while (this.#snapshots.length > 0) this.#deliverSnapshot();
      for (const replica of this.replicas.values()) {
        busy ||= replica.write !== undefined || replica.reads.length > 0;
        busy ||= replica.install !== undefined;
        replica.finishWrite();
        while (replica.reads.length > 0) replica.finishRead();
        replica.finishInstall();
        replica.apply();
        this.#pump(replica);
      }
      if (!busy) return;
    }
    throw new Error('the healed cluster does not come to rest');
  }

  #pump(replica: TestReplica): void {
    const before = replica.core.status();
    replica.pump();
    this.oracle.noteOutput(replica, before);
    for (const to of replica.snapshotsToSend.splice(0)) {
      const point = replica.makeSnapshot();
      if (point) this.#snapshots.push({ from: replica, to, point, term: before.term });
      else replica.core.tell({ kind: 'snapshotSent', to, point: undefined });
    }
    for (const message of replica.outgoing.splice(0)) {
      if (this.#random() < this.#lossShare) continue;
      this.#network.push(message);
      if (this.#random() < this.#duplicateShare) this.#network.push(message);
    }
    while (this.#network.length > NETWORK_MESSAGES_MAX) {
      this.#network.splice(Math.floor(this.#random() * this.#network.length), 1);
    }
  }

  /** Mostly the oldest, sometimes any. */
  #deliverOne(): void {
    if (this.#network.length === 0) return;
    const at = this.#random() < 0.8 ? 0 : Math.floor(this.#random() * this.#network.length);
    const [message] = this.#network.splice(at, 1);
    const to = this.replicas.get(message!.to);
    if (!to || to.id === this.#paused || this.#blocked.has(`${message!.from}>${message!.to}`))
      return;
    to.core.step(message!);
    this.#pump(to);
  }

  #deliverSnapshot(): void {
    const transit = this.#snapshots.shift();
    if (!transit) return;
    const { from, to, point, term } = transit;
    const target = this.replicas.get(to);
    const blocked = this.#blocked.has(`${from.id}>${to}`) || this.#random() < this.#lossShare;
    if (target && !blocked) {
      target.core.tell({ kind: 'snapshotReceived', point, from: from.id, term });
      this.#pump(target);
    }
    const told = !blocked && !(this.#random() < this.#lossShare);
    from.core.tell({ kind: 'snapshotSent', to, point: told ? point : undefined });
    this.#pump(from);
  }

  #propose(replica: TestReplica): void {
    const count = 1 + Math.floor(this.#random() * 5);
    const commands = Array.from({ length: count }, () => {
      this.#commandId += 1;
      const data = Buffer.alloc(8 + Math.floor(this.#random() * 24));
      data.writeUInt32BE(this.#commandId, 0);
      return { id: this.#commandId, data };
    });
    replica.core.propose(commands);
  }

  #read(replica: TestReplica): void {
    const context = this.#nextContext;
    this.#nextContext += 1;
    this.#reads += 1;
    this.oracle.beginRead(replica.id, context);
    replica.core.readIndex(context);
  }

  #tick(replica: TestReplica): void {
    if (replica.id !== this.#paused) replica.core.tick();
  }

  #pauseOrResume(): void {
    this.#paused = this.#paused === undefined ? this.#leader()?.id : undefined;
  }

  /** A slow disk finishes one write where a quick one finishes ten. */
  #finishWrite(replica: TestReplica): void {
    if (!this.#slowDisks.has(replica.id) || this.#random() < 0.1) replica.finishWrite();
  }

  #toggleSlowDisk(replica: TestReplica): void {
    if (!this.#slowDisks.delete(replica.id)) this.#slowDisks.add(replica.id);
  }

  #finishIo(replica: TestReplica): void {
    replica.finishRead();
    replica.finishInstall();
  }

  #flushAndCut(replica: TestReplica): void {
    replica.flushState();
    if (this.#random() < 0.5) replica.cut(Math.floor(this.#random() * 10));
  }

  #transfer(replica: TestReplica): void {
    const to = this.#random() < 0.5 ? undefined : this.#anyId();
    this.#nextRequest += 1;
    replica.core.transferLeadership(this.#nextRequest, to);
  }

  #changeMembers(replica: TestReplica): void {
    const { configuration } = replica.core.status();
    this.#nextRequest += 1;
    const dice = this.#random();
    const learner = configuration.learners[0];
    if (dice < 0.35 && this.#memberCount < MEMBERS_MAX && replica.core.status().role === 'leader') {
      this.#memberCount += 1;
      const number = this.#memberCount;
      this.#addReplica(number, emptyDisk(EMPTY_CONFIGURATION));
      replica.core.changeMembership(this.#nextRequest, {
        kind: 'addLearner',
        member: member(number),
      });
    } else if (dice < 0.75 && learner) {
      replica.core.changeMembership(this.#nextRequest, { kind: 'promote', id: learner.id });
    } else if (dice < 0.95 && configuration.voters.length > 2) {
      const { id } = this.#pick(configuration.voters);
      replica.core.changeMembership(this.#nextRequest, { kind: 'remove', id });
    } else if (configuration.voters.length > 0) {
      const updated = { ...this.#pick(configuration.voters), clientUrl: `https://c${dice}` };
      replica.core.changeMembership(this.#nextRequest, { kind: 'update', member: updated });
    }
    this.#changes += 1;
  }

  #restart(replica: TestReplica): void {
    this.#snapshots = this.#snapshots.filter((transit) => transit.from !== replica);
    this.oracle.forgetReads(replica.id);
    replica.restart(this.#random() < 0.5);
  }

  /** One at a time: somebody must have a state to send. */
  #damageState(replica: TestReplica): void {
    for (const other of this.replicas.values()) if (other.disk.needsSnapshot) return;
    replica.disk.needsSnapshot = true;
    replica.disk.appliedIndex = 0 as LogIndex;
    this.#restart(replica);
  }

  #breakStream(replica: TestReplica): void {
    const peer = this.#anyId();
    this.#network = this.#network.filter(({ from, to }) => from !== replica.id || to !== peer);
    replica.core.tell({ kind: 'peerUnreachable', peer });
  }

  #measureDisk(replica: TestReplica): void {
    replica.core.tell({ kind: 'diskLatency', p99Ms: 1 + this.#random() * 1_000 });
  }

  #disturbNetwork(): void {
    const ids = [...this.replicas.keys()];
    const dice = this.#random();
    if (dice < 0.4) {
      const alone = this.#leader()?.id ?? this.#pick(ids);
      for (const id of ids) this.#block(alone, id, this.#random() < 0.8, this.#random() < 0.8);
    } else if (dice < 0.7) {
      const half = new Set(ids.filter(() => this.#random() < 0.5));
      for (const from of ids) {
        for (const to of ids)
          if (half.has(from) !== half.has(to)) this.#blocked.add(`${from}>${to}`);
      }
    } else this.#block(this.#pick(ids), this.#pick(ids), true, false);
  }

  #block(one: MemberId, other: MemberId, out: boolean, back: boolean): void {
    if (one === other) return;
    if (out) this.#blocked.add(`${one}>${other}`);
    if (back) this.#blocked.add(`${other}>${one}`);
  }

  #addReplica(number: number, disk: ReturnType<typeof emptyDisk>): void {
    const id = memberId(number);
    const options: CoreOptions = {
      ...TEST_OPTIONS,
      electionTicks: 5,
      cacheEntriesMax: 20,
      appendEntriesMax: 8,
      inFlightMessagesMax: 4,
      unappliedEntriesMax: 30,
      random: this.#random,
      ...this.options,
      id,
    };
    const onCommitted = (entry: Entry): void => this.oracle.noteDelivered(id, entry);
    this.replicas.set(id, new TestReplica(id, disk, options, onCommitted));
  }

  #leader(): TestReplica | undefined {
    let best: TestReplica | undefined;
    for (const replica of this.replicas.values()) {
      if (replica.core.status().role !== 'leader') continue;
      if (!best || replica.core.status().term > best.core.status().term) best = replica;
    }
    return best;
  }

  #anyId(): MemberId {
    return this.#pick([...this.replicas.keys()]);
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#random() * items.length)];
    invariant(item !== undefined, 'nothing to pick from');
    return item;
  }
}
