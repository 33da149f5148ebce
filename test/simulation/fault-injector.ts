/**
 * Draws from the seed what goes wrong and when: each run has some kinds of faults and not others, so that
 * rare combinations get their turn. Faults come in storms; between two of them everything is healed until
 * some writes have gone through, so that each storm meets a cluster at work. Only what the cluster must
 * survive: never more than a minority of logs is destroyed before an operator has replaced the machine.
 */
import { HEALTHY_DISK, type LinkConditions } from '@orch/raft';
import { faults } from './faults.js';
import type { Operator } from './operator.js';
import type { Random } from './random.js';
import type { SimNode } from './sim-node.js';
import { calm, weather } from './weather.js';
import type { World } from './world.js';

/** A lull ends without the writes it waits for after so long, and lasts no less. */
const lullMsMax = 20_000;
const lullElections = 2;

export class FaultInjector {
  /** How often each kind has come about. */
  readonly counts: Record<string, number> = {};
  /** A state that may have to be fetched anew; one at a time, and none beside a lost log. */
  damagedState: SimNode | undefined;
  private readonly chosen: readonly string[];
  private readonly everyMs: number;
  private readonly isHasty: boolean;
  private readonly waitsForFounding: boolean;
  /** Faults until the storm is over. */
  private stormLeft: number;
  private ended = false;
  /** All first members have met: before that a lost one cannot be replaced. */
  private founded = false;

  constructor(
    readonly world: World,
    readonly operator: Operator,
    readonly random: Random,
    /** These and no others, and many of them. */
    only: readonly string[] | undefined,
  ) {
    this.isHasty = only !== undefined;
    const swarm = random.pick([0.2, 0.5, 0.8]);
    this.chosen = [...Object.keys(faults), ...Object.keys(weather)].filter((name) =>
      only ? only.includes(name) : random.chance(swarm),
    );
    const { electionMs } = world.tuning.replica;
    this.everyMs = random.pick(only ? [electionMs / 5, electionMs] : [50, 200, 1_000]);
    this.waitsForFounding = this.isHasty || random.chance(0.7);
    this.stormLeft = this.drawStorm();
    for (const { disk } of world.nodes) {
      disk.faults.unsyncedLoss = random.pick(['suffix', 'subset']);
      disk.faults.fileSwitchRate = random.pick([0, 0.1]);
      disk.faults.markLossRate = random.pick([0, 0.5]);
      disk.faults.syncMs = random.pick([
        [0.1, 0.5],
        [0.2, 20],
      ]);
      disk.faults.writeMs = world.tuning.writeMs;
    }
  }

  get isFounded(): boolean {
    this.founded ||= this.world.nodes.every(takesPart);
    return this.founded;
  }

  /** One has lost its state, and has not got it back. */
  get lacksState(): boolean {
    return this.damagedState !== undefined && !isWhole(this.damagedState);
  }

  /** No more faults come. */
  get stopped(): boolean {
    return this.ended;
  }

  start(): void {
    this.next();
  }

  /** No more faults; what lasts is ended. */
  stop(): void {
    this.ended = true;
    this.heal();
    for (const { disk } of this.world.nodes) Object.assign(disk.faults, HEALTHY_DISK);
  }

  private next(): void {
    const delayMs = this.random.magnitude(this.everyMs / 10, this.everyMs * 2);
    this.world.loop.after(delayMs, () => {
      if (this.ended) return;
      if (this.stormLeft === 0) {
        this.rest();
        return;
      }
      this.inject();
      this.next();
    });
  }

  private drawStorm(): number {
    return Math.ceil(this.random.magnitude(2, 60));
  }

  /** A lull: until some writes are through. */
  private rest(): void {
    const { loop, truth, nodes, tuning } = this.world;
    this.world.trace('a lull');
    this.stormLeft = this.drawStorm();
    this.heal();
    for (const node of nodes) this.restartLater(node, this.random.magnitude(1, 200));
    const wantedRevision = truth.revision + this.random.magnitude(5, this.isHasty ? 20 : 100);
    const untilMs = loop.nowMs + lullMsMax;
    const look = () => {
      if (this.ended) return;
      if (truth.revision < wantedRevision && loop.nowMs < untilMs) loop.after(50, look);
      else this.next();
    };
    loop.after(lullElections * tuning.replica.electionMs, look);
  }

  private heal(): void {
    const { network, nodes, post, tuning } = this.world;
    network.setAll(calm);
    network.heal();
    post.misroutedRate = 0;
    for (const node of nodes) {
      node.applyMs = 0;
      const { faults: disk } = node.disk;
      disk.slowSyncRate = 0;
      disk.writeMs = tuning.writeMs;
      disk.syncErrorRate = 0;
      disk.readErrorRate = 0;
      disk.readMs = [0, 0];
      disk.capacityBytes = Number.POSITIVE_INFINITY;
    }
  }

  private inject(): void {
    if (!this.isFounded && this.waitsForFounding) return;
    if (this.chosen.length === 0) return;
    const name = this.random.pick(this.chosen);
    const fault = faults[name];
    if (fault && !fault(this)) return;
    if (!fault) this.changeWeather(name);
    this.stormLeft -= 1;
    this.world.trace(`fault ${name}`);
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  private changeWeather(name: string): void {
    const { network, loop } = this.world;
    const conditions = weather[name]!(this.random);
    network.setAll(conditions);
    loop.after(this.lasts(500, 30_000), () => {
      const ended = Object.keys(conditions) as (keyof LinkConditions)[];
      network.setAll(Object.fromEntries(ended.map((key) => [key, calm[key]])));
    });
  }

  /** Later, unless the faults have ended by then. */
  after(delayMs: number, work: () => void): void {
    this.world.loop.after(delayMs, () => {
      if (!this.ended) work();
    });
  }

  /** Often one that leads: there most is at stake. */
  running(): SimNode | undefined {
    const nodes = this.world.nodes.filter(({ isRunning }) => isRunning);
    const leaders = nodes.filter((node) => node.leads);
    if (nodes.length === 0) return undefined;
    return this.random.pick(leaders.length > 0 && this.random.chance(0.5) ? leaders : nodes);
  }

  leader(): SimNode | undefined {
    return this.world.nodes.find((node) => node.leads);
  }

  /** A voter that runs and does not lead. */
  follower(): SimNode | undefined {
    const followers = this.world.nodes.filter(
      (node) => node.store && !node.leads && this.operator.isVoter(node),
    );
    return followers.length > 0 ? this.random.pick(followers) : undefined;
  }

  urls(): string[] {
    return this.world.nodes.map(({ identity }) => identity.peerUrl);
  }

  isolate(node: SimNode, direction: 'in' | 'out' | 'both'): void {
    this.world.network.isolate(node.identity.peerUrl, this.urls(), direction);
  }

  healAfter(delayMs: number): void {
    this.world.loop.after(delayMs, () => this.world.network.heal());
  }

  /** Where faults are few of kind and many, they last as long as an election or so. */
  lasts(leastMs: number, mostMs: number): number {
    const { replica } = this.world.tuning;
    if (this.isHasty) return replica.electionMs * this.random.magnitude(0.05, 5);
    return this.random.magnitude(leastMs, mostMs);
  }

  /** Ends a process and has it back later. */
  crash(node: SimNode, machine: boolean): void {
    node.crash({ machine });
    this.restartLater(node, this.lasts(5, 20_000));
  }

  restartLater(node: SimNode, delayMs: number): void {
    this.world.loop.after(delayMs, () => {
      if (!node.isRunning && this.operator.mayStart(node)) void node.start();
    });
  }

  /** Whether its log or its state may be destroyed: all others have theirs, and somebody replaces it. */
  mayHarm(node: SimNode): boolean {
    // While members change, a majority of the old ones is needed as well.
    const { voters = [], outgoing } = this.operator.configuration() ?? {};
    if (this.damagedState && isWhole(this.damagedState)) this.damagedState = undefined;
    return (
      this.isFounded &&
      voters.length >= 3 &&
      outgoing === undefined &&
      this.operator.isVoter(node) &&
      this.operator.lost.size === 0 &&
      !this.operator.isBusy &&
      this.damagedState === undefined
    );
  }
}

/** Nothing is applied by who has not met all the others. */
function takesPart({ log, store }: SimNode): boolean {
  return log !== undefined && store !== undefined && log.status().appliedIndex > 0;
}

/** It runs, and has as much as the others: nothing of what it lost is missing any more. */
function isWhole(node: SimNode): boolean {
  const { log, store } = node;
  if (!log || !store) return false;
  const status = log.status();
  return store.status().ready && status.appliedIndex >= status.commitIndex;
}
