/**
 * What goes wrong, drawn from the seed: each run has some kinds of faults and not others, so that rare
 * combinations get their turn. Only what the cluster must survive: never more than a minority of logs
 * is destroyed before an operator has replaced the machine.
 */
import { HEALTHY_DISK, type LinkConditions } from '@orch/raft';
import type { Operator } from './operator.js';
import type { Random } from './random.js';
import type { SimNode } from './sim-node.js';
import type { World } from './world.js';

type Fault = (injector: FaultInjector) => void;

/** Conditions of the network that last for a while. */
const weather: Readonly<Record<string, (random: Random) => Partial<LinkConditions>>> = {
  loss: (random) => ({ lossRate: random.between(0.01, 0.3) }),
  duplication: (random) => ({ duplicateRate: random.between(0.01, 0.5) }),
  reordering: (random) => ({ reorderRate: random.between(0.01, 0.5) }),
  delay: (random) => ({ delayMinMs: 0.1, delayMaxMs: random.magnitude(1, 1_000) }),
  stale: (random) => ({ staleRate: random.between(0.001, 0.02) }),
  corruption: (random) => ({ corruptRate: random.between(0.001, 0.03) }),
  reset: (random) => ({ resetRate: random.between(0.001, 0.05) }),
  snapshotReset: (random) => ({ snapshotResetRate: random.between(0.05, 0.5) }),
  wrongCluster: (random) => ({ wrongClusterRate: random.between(0.05, 0.5) }),
  bandwidth: (random) => ({ bytesPerSecond: random.magnitude(20_000, 10_000_000) }),
};

const calm: Partial<LinkConditions> = {
  lossRate: 0,
  duplicateRate: 0,
  reorderRate: 0,
  delayMinMs: 0.1,
  delayMaxMs: 0.5,
  staleRate: 0,
  corruptRate: 0,
  resetRate: 0,
  snapshotResetRate: 0,
  wrongClusterRate: 0,
  bytesPerSecond: 1024 * 1024 * 1024,
};

const faults: Readonly<Record<string, Fault>> = {
  crash: (all) => all.crash(all.running(), false),
  machineCrash: (all) => all.crash(all.running(), true),
  crashLoop: (all) => all.crashLoop(),
  crashAll: (all) => {
    const machine = all.random.chance(0.5);
    for (const node of all.world.nodes) if (node.isRunning) all.crash(node, machine);
  },
  pause: (all) => all.running()?.pause(all.lasts(20, 30_000)),
  clockJump: (all) => all.running()?.clock.jumpWall(all.random.between(-3_600_000, 3_600_000)),
  isolateBoth: (all) => all.partition('both'),
  isolateIn: (all) => all.partition('in'),
  isolateOut: (all) => all.partition('out'),
  halves: (all) => all.partition('halves'),
  ring: (all) => all.partition('ring'),
  learnersApart: (all) => all.learnersApart(),
  bridge: (all) => all.partition('bridge'),
  clog: (all) => all.clog(),
  slowDisk: (all) => all.slowDisk(),
  syncError: (all) => all.briefly('syncErrorRate', all.random.between(0.05, 0.5)),
  readError: (all) => all.briefly('readErrorRate', all.random.between(0.05, 0.5)),
  fullDisk: (all) => all.fullDisk(),
  damageState: (all) => all.damageState(),
  damageLog: (all) => all.destroy('damage'),
  staleLog: (all) => all.destroy('stale'),
  wipe: (all) => all.destroy('wipe'),
  coup: (all) => all.coup(),
  ambush: (all) => all.ambush(),
  succession: (all) => all.succession(),
  transfer: (all) => void all.operator.transfer(),
  grow: (all) => all.grow(),
  shrink: (all) => void all.operator.shrink(),
  shrinkApart: (all) => all.shrinkApart(),
};

/** `e`, then the index in eight bytes: an entry of a log in its database. */
const entryPrefix = 0x65;

export const faultNames = [...Object.keys(faults), ...Object.keys(weather)];

export class FaultInjector {
  readonly counts: Record<string, number> = {};
  /** A state that may have to be fetched anew; one at a time, and none beside a lost log. */
  damagedState: SimNode | undefined;
  private readonly chosen: readonly string[];
  private readonly weatherChosen: readonly string[];
  private readonly everyMs: number;
  private readonly isHasty: boolean;
  private stopped = false;
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
    const isChosen = (name: string) => (only ? only.includes(name) : random.chance(swarm));
    this.chosen = Object.keys(faults).filter(isChosen);
    this.weatherChosen = Object.keys(weather).filter(isChosen);
    const { electionMs } = world.tuning.replica;
    this.everyMs = random.pick(only ? [electionMs, 4 * electionMs] : [50, 200, 1_000]);
    for (const { disk } of world.nodes) {
      disk.faults.unsyncedLoss = random.pick(['suffix', 'subset']);
      disk.faults.fileSwitchRate = random.pick([0, 0.1]);
      disk.faults.markLossRate = random.pick([0, 0.5]);
      disk.faults.syncMs = random.pick([
        [0.1, 0.5],
        [0.2, 20],
      ]);
    }
  }

  get isFounded(): boolean {
    this.founded ||= this.world.nodes.every(isWhole);
    return this.founded;
  }

  start(): void {
    this.next();
  }

  /** No more faults; what lasts is ended. */
  stop(): void {
    this.stopped = true;
    this.world.network.setAll(calm);
    this.world.network.heal();
    for (const { disk } of this.world.nodes) Object.assign(disk.faults, HEALTHY_DISK);
  }

  private next(): void {
    const delayMs = this.random.magnitude(this.everyMs / 10, this.everyMs * 2);
    this.world.loop.after(delayMs, () => {
      if (this.stopped) return;
      this.inject();
      this.next();
    });
  }

  private inject(): void {
    if (!this.isFounded && this.isHasty) return;
    const names = [...this.chosen, ...this.weatherChosen];
    if (names.length === 0) return;
    const name = this.random.pick(names);
    const fault = faults[name];
    if (fault) fault(this);
    else this.changeWeather(name);
  }

  count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    this.world.trace(`fault ${name}`);
  }

  /** Often one that leads: there most is at stake. */
  running(): SimNode | undefined {
    const nodes = this.world.nodes.filter(({ isRunning }) => isRunning);
    const leaders = nodes.filter(({ store, log }) => store && isLeading(log));
    if (nodes.length === 0) return undefined;
    return this.random.pick(leaders.length > 0 && this.random.chance(0.5) ? leaders : nodes);
  }

  /** Where faults are few of kind and many, they last as long as an election or so. */
  lasts(leastMs: number, mostMs: number): number {
    const { replica } = this.world.tuning;
    if (this.isHasty) return replica.electionMs * this.random.magnitude(0.05, 5);
    return this.random.magnitude(leastMs, mostMs);
  }

  /** Ends a process and has it back later. */
  crash(node: SimNode | undefined, machine: boolean): void {
    if (!node?.isRunning) return;
    this.count(machine ? 'machineCrash' : 'crash');
    node.crash({ machine });
    this.restartLater(node, this.lasts(5, 20_000));
  }

  restartLater(node: SimNode, delayMs: number): void {
    this.world.loop.after(delayMs, () => {
      if (!node.isRunning && !this.operator.lost.has(node)) void node.start();
    });
  }

  crashLoop(): void {
    const node = this.running();
    if (!node) return;
    this.count('crashLoop');
    const again = (left: number) => {
      if (node.isRunning) {
        node.crash({ machine: this.random.chance(0.5) });
        this.restartLater(node, this.random.magnitude(1, 500));
      }
      if (left > 0) this.world.loop.after(this.random.magnitude(5, 1_000), () => again(left - 1));
    };
    again(this.random.integer(6));
  }

  partition(kind: 'both' | 'in' | 'out' | 'halves' | 'ring' | 'bridge'): void {
    const { network, nodes, loop } = this.world;
    const urls = nodes.map(({ identity }) => identity.peerUrl);
    if (urls.length < 3) return;
    this.count(`partition ${kind}`);
    const one = this.running()?.identity.peerUrl ?? this.random.pick(urls);
    const others = urls.filter((url) => url !== one).sort(() => this.random.next() - 0.5);
    const half = others.length >>> 1;
    if (kind === 'halves') network.partition([[one, ...others.slice(0, half)], others.slice(half)]);
    else if (kind === 'ring') network.ring([one, ...others]);
    else if (kind === 'bridge') network.bridge(others.slice(0, half), one, others.slice(half));
    else network.isolate(one, urls, kind);
    loop.after(this.lasts(100, 30_000), () => network.heal());
  }

  /** Who is elected next is cut off at once, and all others lose what they have not on disk. */
  coup(): void {
    const { nodes, loop, truth } = this.world;
    if (nodes.length < 3 || truth.onNextLeader) return;
    this.count('coup');
    truth.onNextLeader = (member) => {
      const leader = nodes.find(({ name }) => name === member)!;
      loop.after(this.random.magnitude(0.1, 10), () => this.strike(leader));
    };
  }

  /** The same, of whoever leads now. */
  ambush(): void {
    const { nodes } = this.world;
    const leader = nodes.find(({ store, log }) => store && isLeading(log));
    if (nodes.length < 3 || !leader) return;
    this.count('ambush');
    this.strike(leader);
  }

  private strike(leader: SimNode): void {
    if (this.stopped) return;
    const { network, nodes, loop } = this.world;
    this.world.trace(`strike against ${leader.name}`);
    const urls = nodes.map(({ identity }) => identity.peerUrl);
    network.isolate(leader.identity.peerUrl, urls, this.random.pick(['both', 'out']));
    loop.after(this.lasts(300, 5_000), () => network.heal());
    for (const node of nodes) {
      if (node === leader || !node.isRunning) continue;
      node.crash({ machine: true });
      this.restartLater(node, this.random.magnitude(1, 50));
    }
  }

  /** One falls behind; it comes back when the leader goes. */
  succession(): void {
    const { network, nodes, loop } = this.world;
    const urls = nodes.map(({ identity }) => identity.peerUrl);
    const leaders = () => nodes.filter(({ store, log }) => store && isLeading(log));
    const behind = this.random.pick(nodes);
    if (urls.length < 3 || leaders().includes(behind)) return;
    this.count('succession');
    network.isolate(behind.identity.peerUrl, urls, 'both');
    loop.after(this.random.magnitude(50, 2_000), () => {
      if (this.stopped) return;
      network.heal();
      for (const { identity } of leaders()) network.isolate(identity.peerUrl, urls, 'both');
      loop.after(this.lasts(300, 5_000), () => network.heal());
    });
  }

  /** The leader is left with those who have no vote. */
  learnersApart(): void {
    const { learners = [] } = this.operator.configuration() ?? {};
    const { network, nodes, loop } = this.world;
    const leader = nodes.find(({ store, log }) => store && isLeading(log));
    if (learners.length === 0 || !leader) return;
    this.count('learnersApart');
    const near = [leader.identity.peerUrl, ...learners.map(({ peerUrl }) => peerUrl)];
    const urls = nodes.map(({ identity }) => identity.peerUrl);
    network.partition([near, urls.filter((url) => !near.includes(url))]);
    loop.after(this.lasts(100, 30_000), () => network.heal());
  }

  clog(): void {
    const urls = this.world.nodes.map(({ identity }) => identity.peerUrl);
    if (urls.length < 2) return;
    this.count('clog');
    const link = this.world.network.link(this.random.pick(urls), this.random.pick(urls));
    link.set({ clogged: true });
    this.world.loop.after(this.lasts(50, 10_000), () => link.set({ clogged: false }));
  }

  slowDisk(): void {
    const node = this.running();
    if (!node) return;
    this.count('slowDisk');
    const { faults: disk } = node.disk;
    disk.slowSyncRate = this.random.pick([0.1, 0.5, 1]);
    disk.slowSyncMs = [10, this.random.magnitude(20, 5_000)];
    this.world.loop.after(this.lasts(500, 20_000), () => {
      disk.slowSyncRate = 0;
    });
  }

  briefly(fault: 'syncErrorRate' | 'readErrorRate', rate: number): void {
    const node = this.running();
    if (!node) return;
    this.count(fault);
    node.disk.faults[fault] = rate;
    this.world.loop.after(this.random.magnitude(20, 3_000), () => {
      node.disk.faults[fault] = 0;
    });
  }

  fullDisk(): void {
    const node = this.running();
    if (!node) return;
    this.count('fullDisk');
    node.disk.faults.capacityBytes = node.disk.usedBytes() + this.random.integer(20_000);
    this.world.loop.after(this.random.magnitude(200, 10_000), () => {
      node.disk.faults.capacityBytes = Number.POSITIVE_INFINITY;
    });
  }

  damageState(): void {
    const node = this.running();
    if (!node || !this.mayHarm(node)) return;
    this.count('damageState');
    this.damagedState = node;
    node.crash({ machine: true });
    const directory = `${node.dataDirectory}/state`;
    const at = this.random.pick(['first', 'middle', 'last', 'any'] as const);
    if (this.random.chance(0.7)) node.disk.flipBit(directory, { at });
    else node.disk.loseRecord(directory, { at });
    this.restartLater(node, this.random.magnitude(5, 3_000));
  }

  /** The machine's log is not to be trusted any more: it must be refused, and the machine replaced. */
  destroy(how: 'damage' | 'stale' | 'wipe'): void {
    const node = this.running();
    if (!node || !this.mayHarm(node)) return;
    this.count(`log ${how}`);
    this.operator.lost.add(node);
    const { disk, dataDirectory } = node;
    // The mark tells of a head that reads as it was: two faults at once would leave no trace.
    if (how === 'stale') disk.faults.markLossRate = 0;
    node.crash({ machine: true });
    let damaged: Buffer | undefined;
    if (how === 'wipe') for (const path of disk.directories()) disk.wipe(path);
    else {
      const at = this.random.pick(['first', 'middle', 'last', 'any'] as const);
      if (how === 'damage') damaged = disk.flipBit(`${dataDirectory}/log`, { at });
      else disk.makeStale(`${dataDirectory}/log`, { at });
    }
    // It may try: nothing that it says then may count.
    this.world.loop.after(this.random.magnitude(5, 3_000), () => {
      if (!node.isRunning) void this.startDamaged(node, damaged);
    });
    this.world.loop.after(this.random.magnitude(2_000, 8_000), () => this.replaceLost());
  }

  /** A log of which an entry was damaged is never opened. */
  private async startDamaged(node: SimNode, key: Buffer | undefined): Promise<void> {
    await node.start();
    const { store, log } = node;
    if (!key || !store || !log || key[0] !== entryPrefix) return;
    const index = key.readUIntBE(3, 6);
    const { firstIndex, lastIndex } = log.status();
    if (index < firstIndex || index > lastIndex) return;
    this.world.failures.push(`${node.name} takes part although entry ${index} was damaged`);
  }

  replaceLost(): void {
    for (const node of this.operator.lost) {
      if (this.operator.isBusy) break;
      void this.operator.replace(node);
    }
    if (this.operator.lost.size > 0 && !this.operator.stopped) {
      this.world.loop.after(2_000, () => this.replaceLost());
    }
  }

  grow(): void {
    const { voters = [], learners = [] } = this.operator.configuration() ?? {};
    if (voters.length + learners.length < 6) void this.operator.grow();
  }

  /** A hasty operator asks a leader that is cut off for a cluster of those whom it still reaches. */
  shrinkApart(): void {
    const { voters = [] } = this.operator.configuration() ?? {};
    const leader = this.world.nodes.find(({ store, log }) => store && isLeading(log));
    if (voters.length < 4 || !leader || this.operator.lost.size > 0) return;
    this.count('shrinkApart');
    const { network, nodes, loop } = this.world;
    const urls = nodes.map(({ identity }) => identity.peerUrl);
    const near = [leader.identity.peerUrl];
    const follower = this.random.pick(urls.filter((url) => url !== near[0]));
    near.push(follower);
    const far = urls.filter((url) => !near.includes(url));
    network.partition([near, far]);
    loop.after(this.random.magnitude(500, 5_000), () => network.heal());
    const names = voters.filter(({ peerUrl }) => far.includes(peerUrl)).map(({ name }) => name);
    void this.operator.removeAtOnce(leader, names.slice(0, voters.length - 3));
  }

  private mayHarm(node: SimNode): boolean {
    const { voters = [] } = this.operator.configuration() ?? {};
    if (this.damagedState && isWhole(this.damagedState)) this.damagedState = undefined;
    return (
      this.isFounded &&
      voters.length >= 3 &&
      this.operator.isVoter(node) &&
      this.operator.lost.size === 0 &&
      !this.operator.isBusy &&
      this.damagedState === undefined
    );
  }

  private changeWeather(name: string): void {
    this.count(name);
    const { network, loop } = this.world;
    network.setAll(weather[name]!(this.random));
    loop.after(this.lasts(500, 30_000), () => {
      const ended = Object.keys(weather[name]!(this.random)) as (keyof LinkConditions)[];
      network.setAll(Object.fromEntries(ended.map((key) => [key, calm[key]])));
    });
  }
}

function isLeading(log: SimNode['log']): boolean {
  return log?.status().role === 'leader';
}

/** It runs, and has as much as the others: nothing of what it lost is missing any more. */
function isWhole(node: SimNode): boolean {
  const { log, store } = node;
  if (!log || !store) return false;
  const status = log.status();
  return store.status().ready && status.appliedIndex >= status.commitIndex;
}
