/**
 * The access of faults to a simulated cluster: its machines and their operator, random choices, and
 * the recovery from what a fault has done. A fault that the cluster need not survive is refused:
 * only a minority of logs and states may be destroyed before an operator has replaced the machine.
 */
import type { Operator } from './operator.js';
import type { Random } from './random.js';
import type { SimNode } from './sim-node.js';
import type { World } from './world.js';

/** Returns whether the fault happened: it may be impossible in the current state. */
export type Fault = (context: FaultContext) => boolean;

export class FaultContext {
  /** No further faults happen. */
  stopped = false;
  /** A node whose state may need a snapshot: at most one, and none while a log is lost. */
  damagedState: SimNode | undefined;
  /** All initial members have met: a member lost before that cannot be replaced. */
  private founded = false;

  constructor(
    readonly world: World,
    readonly operator: Operator,
    readonly random: Random,
    /** Faults are short and follow each other quickly. */
    readonly isHasty: boolean,
  ) {}

  get isFounded(): boolean {
    this.founded ||= this.world.nodes.every(takesPart);
    return this.founded;
  }

  /** Whether a node has lost its state and has not restored it yet. */
  get lacksState(): boolean {
    return this.damagedState !== undefined && !isWhole(this.damagedState);
  }

  /** Runs `work` after the delay, unless the faults have stopped by then. */
  after(delayMs: number, work: () => void): void {
    this.world.loop.after(delayMs, () => {
      if (!this.stopped) work();
    });
  }

  /** A running node, often the leader, where most is at stake. */
  running(): SimNode | undefined {
    const nodes = this.world.nodes.filter(({ isRunning }) => isRunning);
    const leaders = nodes.filter((node) => node.leads);
    if (nodes.length === 0) return undefined;
    return this.random.pick(leaders.length > 0 && this.random.chance(0.5) ? leaders : nodes);
  }

  leader(): SimNode | undefined {
    return this.world.nodes.find((node) => node.leads);
  }

  /** A running voter that is not the leader. */
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

  /** The duration of a fault; hasty faults last for about one election. */
  lasts(leastMs: number, mostMs: number): number {
    const { replica } = this.world.tuning;
    if (this.isHasty) return replica.electionMs * this.random.magnitude(0.05, 5);
    return this.random.magnitude(leastMs, mostMs);
  }

  /** Ends a process and starts it again later. */
  crash(node: SimNode, machine: boolean): void {
    node.crash({ machine });
    this.restartLater(node, this.lasts(5, 20_000));
  }

  restartLater(node: SimNode, delayMs: number): void {
    this.world.loop.after(delayMs, () => {
      if (!node.isRunning && this.operator.mayStart(node)) void node.start();
    });
  }

  /**
   * Whether the log or state of a node may be destroyed: all other nodes have theirs, and an
   * operator can replace the node.
   */
  mayHarm(node: SimNode): boolean {
    // During a membership change, a majority of the old members is required as well.
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

/** A member applies nothing before it has met all the others. */
function takesPart({ log, store }: SimNode): boolean {
  return log !== undefined && store !== undefined && log.status().appliedIndex > 0;
}

/** Whether the node runs and has applied everything committed, so that nothing is lost. */
function isWhole(node: SimNode): boolean {
  const { log, store } = node;
  if (!log || !store) return false;
  const status = log.status();
  return store.status().ready && status.appliedIndex >= status.commitIndex;
}
