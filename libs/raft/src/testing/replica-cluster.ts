/** Replicas of one cluster in one process, on a clock that the test moves. */
import type { Logger, LoopClock, Timer } from '@orch/component';
import { setVerifying } from '@orch/component';
import { InThreadReplicatedLog } from '../replica/in-thread-replicated-log.js';
import { defaultReplicaTuning, type ReplicaTuning } from '../replica/startup/replica-options.js';
import type { ReplicaStatus } from '../replicated-log.js';
import { LogStore } from '../storage/log-store.js';
import { LogRecorder, StateDisk } from './log-recorder.js';
import { ManualClock } from './manual-clock.js';
import { SimDisk } from './sim-disk.js';
import { SimNetwork } from './sim-network.js';

export interface Node {
  readonly name: string;
  readonly log: InThreadReplicatedLog;
  readonly state: LogRecorder;
  readonly disk: SimDisk;
  readonly clock: ProcessClock;
  readonly fatal: Error[];
}

export interface NodeOptions {
  readonly join?: boolean;
  readonly tuning?: Partial<ReplicaTuning>;
  /** Called before it starts. */
  readonly prepare?: (node: Node) => void;
}

/** What a test must not overlook is printed. */
export const quietLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  fatal: (...fields: unknown[]) => console.error(...fields),
  child: () => quietLogger,
} as Logger;

/** The clock of one process: its timers end with the process. While paused, due timers wait. */
export class ProcessClock implements LoopClock {
  alive = true;
  private paused: (() => void)[] | undefined;

  constructor(private readonly world: ManualClock) {}

  nowMs(): number {
    return this.world.nowMs();
  }

  monotonicMs(): number {
    return this.world.monotonicMs();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    let cancelled = false;
    const run = () => {
      if (!this.alive || cancelled) return;
      if (this.paused) this.paused.push(run);
      else callback();
    };
    this.world.setTimer(delayMs, run);
    return {
      cancel: () => {
        cancelled = true;
      },
    };
  }

  async nextTurn(): Promise<void> {
    await this.world.nextTurn();
    if (!this.alive) await new Promise(() => undefined);
  }

  pause(): void {
    this.paused ??= [];
  }

  resume(): void {
    const late = this.paused ?? [];
    this.paused = undefined;
    for (const run of late) run();
  }
}

export class ReplicaCluster {
  readonly clock = new ManualClock();
  readonly network: SimNetwork;
  readonly nodes = new Map<string, Node>();
  private readonly disks = new Map<string, { readonly disk: SimDisk; readonly state: StateDisk }>();
  private seed: number;
  private proposals = 0;

  constructor(
    readonly names: readonly string[],
    seed = 1,
  ) {
    setVerifying(true);
    this.seed = seed;
    this.network = new SimNetwork({ clock: this.clock, random: seededRandom(seed) });
  }

  static url(name: string): string {
    return `https://${name}:6480`;
  }

  async start(name: string, options: NodeOptions = {}): Promise<Node> {
    const node = this.create(name, options);
    options.prepare?.(node);
    const started = node.log.start(node.state.state, node.state);
    await this.settle(started);
    return node;
  }

  /** Not yet started. */
  create(name: string, { join = false, tuning = {} }: NodeOptions = {}): Node {
    const clock = new ProcessClock(this.clock);
    this.seed += 1;
    const random = seededRandom(this.seed);
    const kept = this.disks.get(name) ?? {
      disk: new SimDisk({ clock: this.clock, random }),
      state: new StateDisk(),
    };
    this.disks.set(name, kept);
    const { cacheEntriesMax, cacheBytesMax } = { ...defaultReplicaTuning, ...tuning };
    const peerUrl = ReplicaCluster.url(name);
    const alone = this.names.length === 1 && !join;
    const transport = alone ? undefined : this.network.transport(peerUrl, { clock });
    const fatal: Error[] = [];
    const log = new InThreadReplicatedLog({
      identity: {
        memberName: name,
        peerUrl,
        clientUrl: `https://${name}:6443`,
        initialMembers: this.names.map((each) => ({
          name: each,
          peerUrl: ReplicaCluster.url(each),
        })),
        initialState: join ? 'join' : 'new',
        clusterToken: 'test',
      },
      tuning,
      openStore: () =>
        new LogStore({
          disk: kept.disk,
          directory: 'log',
          clock,
          cacheEntriesMax,
          cacheBytesMax,
        }),
      ...(transport && { transport }),
      clock,
      random,
      logger: quietLogger,
      onFatal: (error) => {
        fatal.push(error);
        this.kill(name);
      },
    });
    const state = new LogRecorder(kept.state);
    const node = { name, log, state, disk: kept.disk, clock, fatal };
    this.nodes.set(name, node);
    return node;
  }

  async startAll(options: NodeOptions = {}): Promise<void> {
    for (const name of this.names) await this.start(name, options);
  }

  /** Starts all replicas, with early compaction of their logs. Resolves with the leader. */
  async startAndElect(): Promise<Node> {
    await this.startAll({ tuning: { logKeepEntries: 5 } });
    return this.untilLeader();
  }

  node(name: string): Node {
    const node = this.nodes.get(name);
    if (!node) throw new Error(`${name} does not run`);
    return node;
  }

  /** Ends the process immediately. */
  kill(name: string, { machine = false } = {}): void {
    const node = this.node(name);
    node.clock.alive = false;
    this.network.crash(ReplicaCluster.url(name));
    node.disk.crash({ machine });
    this.nodes.delete(name);
  }

  async stop(name: string): Promise<void> {
    await this.settle(this.node(name).log.stop());
    this.nodes.delete(name);
  }

  async stopAll(): Promise<void> {
    for (const name of [...this.nodes.keys()]) await this.stop(name);
  }

  /** Empties the directories of a member that does not run. */
  wipe(name: string): void {
    this.disks.delete(name);
  }

  /** Gives each of two that do not run the directories of the other. */
  swap(one: string, other: string): void {
    const kept = this.disks.get(one)!;
    this.disks.set(one, this.disks.get(other)!);
    this.disks.set(other, kept);
  }

  disk(name: string): StateDisk {
    return this.disks.get(name)!.state;
  }

  leader(): Node | undefined {
    return [...this.nodes.values()].find(({ log }) => log.status().role === 'leader');
  }

  /** Nothing goes to or from that one any more, until `network.heal()`. */
  isolate(name: string): void {
    const urls = [...this.nodes.keys()].map((each) => ReplicaCluster.url(each));
    this.network.isolate(ReplicaCluster.url(name), urls, 'both');
  }

  async untilLeader(): Promise<Node> {
    await this.until(() => {
      const leader = this.leader();
      return leader !== undefined && leader.log.status().unavailableReason === undefined;
    }, 'a leader is elected');
    return this.leader()!;
  }

  followers(): Node[] {
    return [...this.nodes.values()].filter(({ log }) => log.status().role !== 'leader');
  }

  propose(node: Node, text: string): number {
    this.proposals += 1;
    node.log.propose(this.proposals, Buffer.from(text));
    return this.proposals;
  }

  /** Advances the clock until `condition` holds. */
  async until(condition: () => boolean, what: string, withinMs = 20_000): Promise<void> {
    const endMs = this.clock.monotonicMs() + withinMs;
    while (!condition()) {
      if (this.clock.monotonicMs() > endMs) throw new Error(`timed out waiting until ${what}`);
      await this.clock.advance(10);
    }
  }

  /** Advances the clock until `promise` is settled. */
  async settle<Result>(promise: Promise<Result>): Promise<Result> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    await this.until(() => settled, 'the promise is settled', 120_000);
    return promise;
  }

  /** All that run have applied `text`. */
  async applied(text: string): Promise<void> {
    await this.until(
      () => [...this.nodes.values()].every(({ state }) => state.texts.includes(text)),
      `all have applied ${text}`,
    );
  }

  statuses(asked: Node): Promise<readonly ReplicaStatus[]> {
    return this.settle(asked.log.peerStatus(this.clock.monotonicMs() + 1_000));
  }

  deadline(afterMs = 5_000): number {
    return this.clock.monotonicMs() + afterMs;
  }
}

/** mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
