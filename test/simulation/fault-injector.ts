/**
 * Draws faults and their times from the seed: each run has some kinds of faults and not others, so
 * that rare combinations occur. Faults are grouped in storms; between two storms everything is
 * healed until some writes succeed, so that each storm meets a working cluster.
 */
import { healthyDisk, type LinkConditions } from '@orch/raft';
import type { FaultContext } from './fault-context.js';
import { faults } from './faults.js';
import { calm, weather } from './weather.js';

/** A lull ends after this time even if too few writes succeed. */
const lullMsMax = 20_000;
/** The shortest lull, in election timeouts. */
const lullElections = 2;

export class FaultInjector {
  /** The number of faults of each kind that happened. */
  readonly counts: Record<string, number> = {};
  private readonly chosen: readonly string[];
  private readonly everyMs: number;
  private readonly waitsForFounding: boolean;
  /** The number of faults until the end of the storm. */
  private stormLeft: number;

  /** `only`: the kinds of faults; undefined: random kinds. */
  constructor(
    private readonly context: FaultContext,
    only: readonly string[] | undefined,
  ) {
    const { world, random, isHasty } = context;
    const swarm = random.pick([0.2, 0.5, 0.8]);
    this.chosen = [...Object.keys(faults), ...Object.keys(weather)].filter((name) =>
      only ? only.includes(name) : random.chance(swarm),
    );
    const { electionMs } = world.tuning.replica;
    this.everyMs = random.pick(only ? [electionMs / 5, electionMs] : [50, 200, 1_000]);
    this.waitsForFounding = isHasty || random.chance(0.7);
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

  start(): void {
    this.next();
  }

  /** Injects no further faults and ends lasting ones. */
  stop(): void {
    this.context.stopped = true;
    this.heal();
    for (const { disk } of this.context.world.nodes) Object.assign(disk.faults, healthyDisk);
  }

  private next(): void {
    const { random } = this.context;
    const delayMs = random.magnitude(this.everyMs / 10, this.everyMs * 2);
    this.context.after(delayMs, () => {
      if (this.stormLeft === 0) {
        this.rest();
        return;
      }
      this.inject();
      this.next();
    });
  }

  private drawStorm(): number {
    return Math.ceil(this.context.random.magnitude(2, 60));
  }

  /** A lull: lasts until some writes are applied. */
  private rest(): void {
    const { context } = this;
    const { random, world } = context;
    const { loop, truth, nodes, tuning } = world;
    world.trace('a lull');
    this.stormLeft = this.drawStorm();
    this.heal();
    for (const node of nodes) context.restartLater(node, random.magnitude(1, 200));
    const wantedRevision = truth.revision + random.magnitude(5, context.isHasty ? 20 : 100);
    const untilMs = loop.nowMs + lullMsMax;
    const check = () => {
      if (context.stopped) return;
      if (truth.revision < wantedRevision && loop.nowMs < untilMs) loop.after(50, check);
      else this.next();
    };
    loop.after(lullElections * tuning.replica.electionMs, check);
  }

  private heal(): void {
    const { network, nodes, post, tuning } = this.context.world;
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
    const { context } = this;
    if (!context.isFounded && this.waitsForFounding) return;
    if (this.chosen.length === 0) return;
    const name = context.random.pick(this.chosen);
    const fault = faults[name];
    if (fault && !fault(context)) return;
    if (!fault) this.changeWeather(name);
    this.stormLeft -= 1;
    context.world.trace(`fault ${name}`);
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  private changeWeather(name: string): void {
    const { random, world } = this.context;
    const { network, loop } = world;
    const conditions = weather[name]!(random);
    network.setAll(conditions);
    loop.after(this.context.lasts(500, 30_000), () => {
      const ended = Object.keys(conditions) as (keyof LinkConditions)[];
      network.setAll(Object.fromEntries(ended.map((key) => [key, calm[key]])));
    });
  }
}
