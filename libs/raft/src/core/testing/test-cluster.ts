/**
 * Several test replicas and a network that a test controls, for scenarios in which things go in
 * order.
 */

import { asMemberId } from '../brands.js';
import type { CoreOptions } from '../core-options.js';
import type { ForwardedCommand, Message } from '../messages.js';
import type { Configuration, LogIndex, Member, MemberId } from '../types.js';
import { mulberry32 } from './mulberry32.js';
import { emptyDisk, type TestDisk, TestReplica } from './test-replica.js';

export const testOptions: Omit<CoreOptions, 'id' | 'random'> = {
  heartbeatTicks: 1,
  idleHeartbeatTicks: 1,
  electionTicks: 10,
  inFlightMessagesMax: 8,
  inFlightBytesMax: 1_000_000,
  appendEntriesMax: 64,
  appendBytesMax: 100_000,
  uncommittedBytesMax: 1_000_000,
  unappliedEntriesMax: 1_000,
  unappliedBytesMax: 1_000_000,
  cacheEntriesMax: 1_000,
  cacheBytesMax: 1_000_000,
  heldMessagesMax: 1_000,
  promoteLagMax: 10,
  leaseReads: false,
  slowDiskMs: 500,
  verifies: true,
};

/** Member number `n`. */
export function member(number: number): Member {
  const id = memberId(number);
  return { id, name: `m${number}`, peerUrl: `https://m${number}:6480`, clientUrl: '' };
}

export function memberId(number: number): MemberId {
  return asMemberId(number.toString(16).padStart(16, '0'));
}

export function votersOf(...numbers: number[]): Configuration {
  return { voters: numbers.map(member), learners: [] };
}

export class TestCluster {
  readonly replicas = new Map<MemberId, TestReplica>();
  /** Sent and not yet delivered. */
  network: Message[] = [];
  /** True: the message is lost. */
  lose: (message: Message) => boolean = () => false;
  /** Snapshots arrive, but their senders get no receipt. */
  losesReceipts = false;
  /** These do not finish writes by themselves. */
  readonly slowDisks = new Set<MemberId>();
  /** These neither send nor receive. */
  readonly isolated = new Set<MemberId>();
  private readonly random = mulberry32(7);
  private commandId = 0;

  constructor(
    numbers: readonly number[],
    private readonly options: Partial<CoreOptions> = {},
    configuration: Configuration = votersOf(...numbers),
  ) {
    for (const number of numbers) this.add(number, emptyDisk(configuration));
  }

  add(number: number, disk: TestDisk, options: Partial<CoreOptions> = {}): TestReplica {
    const id = memberId(number);
    const replica = new TestReplica(id, disk, {
      ...testOptions,
      random: this.random,
      ...this.options,
      ...options,
      id,
    });
    this.replicas.set(id, replica);
    return replica;
  }

  replica(number: number): TestReplica {
    return this.replicas.get(memberId(number))!;
  }

  /** Makes `number` the leader and settles. */
  elect(number: number): TestReplica {
    const replica = this.replica(number);
    for (let ticks = 0; ticks < 100 && replica.core.status().role !== 'leader'; ticks += 1) {
      // The others must have missed the leader for an election timeout to vote.
      if (ticks < testOptions.electionTicks) this.silentTick(number);
      replica.core.tick();
      this.settle();
    }
    return replica;
  }

  /** The one that leads in the highest term. */
  leader(): TestReplica | undefined {
    let best: TestReplica | undefined;
    for (const replica of this.replicas.values()) {
      const status = replica.core.status();
      if (status.role !== 'leader') continue;
      if (!best || status.term > best.core.status().term) best = replica;
    }
    return best;
  }

  /** Ticks all replicas `count` times, settling after each. */
  tick(count = 1): void {
    for (let done = 0; done < count; done += 1) {
      for (const replica of this.replicas.values()) replica.core.tick();
      this.settle();
    }
  }

  /** Until nothing moves any more: outputs, writes, reads, applies and messages. */
  settle(): void {
    for (let round = 0; round < 10_000; round += 1) {
      for (const replica of this.replicas.values()) this.work(replica);
      if (this.network.length === 0) return;
      const messages = this.network;
      this.network = [];
      for (const message of messages) this.replicas.get(message.to)?.core.step(message);
    }
    throw new Error('the cluster does not come to rest');
  }

  /** Proposes `count` commands at `replica`; their ids. */
  propose(replica: TestReplica, count = 1, byteCount = 8): number[] {
    const commands: ForwardedCommand[] = [];
    for (let done = 0; done < count; done += 1) {
      this.commandId += 1;
      const data = Buffer.alloc(byteCount);
      data.writeUInt32BE(this.commandId, 0);
      commands.push({ id: this.commandId, data });
    }
    replica.core.propose(commands);
    return commands.map((command) => command.id);
  }

  commitIndexes(): LogIndex[] {
    return [...this.replicas.values()].map((replica) => replica.core.status().commitIndex);
  }

  private work(replica: TestReplica): void {
    for (let turn = 0; turn < 100; turn += 1) {
      replica.pump();
      replica.apply();
      replica.finishInstall();
      const reads = replica.reads.length;
      replica.finishRead();
      const writing = replica.write !== undefined && !this.slowDisks.has(replica.id);
      if (writing) replica.finishWrite();
      this.deliverSnapshots(replica);
      if (!writing && reads === 0 && replica.outgoing.length === 0) break;
      for (const message of replica.outgoing) {
        const cut = this.isolated.has(message.from) || this.isolated.has(message.to);
        if (!cut && !this.lose(message)) this.network.push(message);
      }
      replica.outgoing = [];
    }
  }

  private deliverSnapshots(replica: TestReplica): void {
    for (const to of replica.snapshotsToSend.splice(0)) {
      const point = replica.makeSnapshot();
      const target = this.replicas.get(to);
      const reachable = !this.isolated.has(to) && !this.isolated.has(replica.id);
      if (!point || !target || !reachable) {
        replica.core.handle({ kind: 'snapshotSent', to, point: undefined });
        continue;
      }
      const { term } = replica.core.status();
      target.core.handle({ kind: 'snapshotReceived', point, from: replica.id, term });
      if (!this.losesReceipts) replica.core.handle({ kind: 'snapshotSent', to, point });
    }
  }

  private silentTick(except: number): void {
    for (const replica of this.replicas.values()) {
      const { role } = replica.core.status();
      if (replica.id !== memberId(except) && role !== 'leader') replica.core.tick();
    }
  }
}
