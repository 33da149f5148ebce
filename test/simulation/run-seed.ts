/**
 * One seed: a cluster under load and faults, then healed, then questioned. First only a random
 * majority is healed and must make progress by itself; then all of it, and every replica must come
 * to the same.
 */
import { setVerifying } from '@orch/component';
import { collectMarks, type Member, ProcessGone } from '@orch/raft';
import { checkHistory } from '../history/check-history.js';
import { checkWatch } from '../history/check-watch.js';
import type { Violation } from '../history/history.js';
import { ReplayedState } from '../history/replayed-state.js';
import { explains } from './fatal-causes.js';
import { FaultContext } from './fault-context.js';
import { FaultInjector } from './fault-injector.js';
import { expiringPrefix } from './objects.js';
import { Operator } from './operator.js';
import { comeToRest, describe, isSound, readContents, until } from './phases.js';
import { Random } from './random.js';
import { checkContents, type ReplicaContent } from './replica-content.js';
import { restoreElsewhere } from './restored-cluster.js';
import { type Scenario, steadyTuning } from './scenario.js';
import { scenarioOf } from './scenarios.js';
import type { SimNode } from './sim-node.js';
import { World } from './world.js';

export interface SeedResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** Too little happened for the run to prove anything. */
  readonly isValid: boolean;
  readonly fingerprint: string;
  readonly stepCount: number;
  readonly acknowledged: number;
  readonly readCount: number;
  readonly unknown: number;
  readonly termCount: number;
  readonly faults: Readonly<Record<string, number>>;
  /** What operators have brought about. */
  readonly operations: Readonly<Record<string, number>>;
  readonly marks: readonly string[];
}

export interface SeedOptions {
  readonly seed: number;
  readonly stepCount: number;
  /** Faults of these kinds and no others, and many of them; without it they are drawn. */
  readonly faults?: readonly string[];
  /** Members that the cluster begins with; without it they are drawn. */
  readonly memberCount?: number;
  /** Staged, instead of faults by chance; `stepCount` of work follow. */
  readonly scenario?: string;
  /** Receives every line of the trace. */
  readonly show?: (line: string) => void;
}

const clientCount = 6;
const watcherCount = 6;
/** Simulated time in which a healed majority must take a write. */
const progressMs = 60_000;
/** Within which each step of a scenario must come about. */
const stageMs = 60_000;
/** How long everything runs without faults before it is checked. */
const healthyMs = 500;
const workPerAcknowledged = 400;
/** Share of the runs with a backup: it takes a fifth more steps. */
const restoreShare = 0.3;

export async function runSeed(options: SeedOptions): Promise<SeedResult> {
  setVerifying(true);
  const { seed, stepCount, faults, memberCount, show } = options;
  const scenario = options.scenario === undefined ? undefined : scenarioOf(options.scenario);
  const random = new Random(seed);
  const world = scenario
    ? new World(random, show, scenario.memberCount, scenario.tuning ?? steadyTuning)
    : new World(random, show, memberCount, undefined);
  const operator = new Operator(world, random.fork('operator'));
  const isHasty = faults !== undefined;
  const context = new FaultContext(world, operator, random.fork('faults'), isHasty);
  const injector = new FaultInjector(context, faults);
  const marks = new Set<string>();
  collectMarks((name) => marks.add(name));
  const unexpected = (error: unknown) => {
    if (error instanceof ProcessGone) return;
    world.failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  process.on('unhandledRejection', unexpected);
  world.onFatal = (node, error) => {
    if (!explains(error, node, operator)) {
      world.failures.push(`${node.name}: ${error.stack ?? error.message}`);
    }
    node.crash({ machine: false });
    context.restartLater(node, 500);
  };
  const violations: Violation[] = [];
  try {
    world.startClients(clientCount, watcherCount);
    if (scenario) await stage(scenario, world, operator);
    else {
      for (const node of world.nodes) void node.start();
      injector.start();
    }
    const endsAtStep = stepCount + (scenario ? world.loop.stepCount : 0);
    while (world.loop.stepCount < endsAtStep && isSound(world)) await world.loop.step();
    injector.stop();
    operator.stopped = true;
    if (isSound(world)) violations.push(...(await healMajority(context, random)));
    if (isSound(world)) violations.push(...(await healAll(world, operator)));
    if (isSound(world) && violations.length === 0) {
      violations.push(...judge(world, await readContents(world)));
    }
    const { backup } = operator;
    const restoring = random.fork('restore');
    if (backup && restoring.chance(restoreShare) && isSound(world) && violations.length === 0) {
      violations.push(...(await restoreElsewhere(backup, world, restoring)));
    }
  } catch (error) {
    unexpected(error);
  } finally {
    process.off('unhandledRejection', unexpected);
    collectMarks(undefined);
  }
  violations.push(...world.truth.violations);
  violations.push(...world.failures.map((detail) => ({ rule: 'process failed', detail })));
  violations.push(...world.notes.faults.map((detail) => ({ rule: 'client', detail })));
  const { writes, reads } = world.notes;
  const acknowledged = writes.filter(({ outcome }) => outcome.kind === 'applied').length;
  return {
    seed,
    violations,
    isValid: acknowledged >= stepCount / workPerAcknowledged,
    fingerprint: world.fingerprint(),
    stepCount: world.loop.stepCount,
    acknowledged,
    readCount: reads.length,
    unknown: writes.filter(({ outcome }) => outcome.kind === 'unknown').length,
    termCount: world.truth.termCount,
    faults: injector.counts,
    operations: operator.counts,
    marks: [...marks],
  };
}

async function stage(scenario: Scenario, world: World, operator: Operator): Promise<void> {
  await scenario.play({
    world,
    operator,
    async until(what, condition) {
      if ((await until(world, stageMs, condition)) || !isSound(world)) return;
      throw new Error(`${scenario.name}: not within ${stageMs} ms: ${what}`);
    },
  });
}

/**
 * Machines with an intact log that are a majority must accept a write: of both halves while members
 * change, and of every configuration that is in effect on some replica, because the next leader may
 * have any of them.
 */
async function healMajority(context: FaultContext, random: Random): Promise<Violation[]> {
  const { world, operator } = context;
  const halves = await votersOf(world, operator);
  const sound = world.nodes.filter((node) => !operator.lost.has(node));
  const isVoter = ({ name }: SimNode) =>
    halves.some((half) => half.some((voter) => voter.name === name));
  // Where one has lost its state, perhaps only the one that would stay away has it.
  const majority: SimNode[] = context.lacksState ? sound.filter(isVoter) : [];
  for (const node of sound.sort(() => random.next() - 0.5)) {
    const lacking = halves.filter((half) => !isMajority(majority, half));
    if (lacking.some((half) => half.some(({ name }) => name === node.name))) majority.push(node);
  }
  // A new cluster begins with all of its members; a majority alone need not be able to.
  if (!context.isFounded) return [];
  world.trace(`only ${majority.map(({ name }) => name).join(', ')} go on`);
  for (const node of world.nodes) {
    if (!majority.includes(node)) node.crash({ machine: false });
    else if (!node.isRunning) void node.start();
  }
  const before = world.notes.writes.length;
  const took = await until(world, progressMs, () =>
    world.notes.writes.slice(before).some(({ outcome }) => outcome.kind === 'applied'),
  );
  if (took) return [];
  return [{ rule: 'no progress', detail: describe(world, majority) }];
}

async function healAll(world: World, operator: Operator): Promise<Violation[]> {
  world.trace('everything is healed');
  for (const node of world.nodes) {
    if (!node.isRunning && operator.mayStart(node)) void node.start();
  }
  await until(world, healthyMs, () => false);
  return comeToRest(world, (node) => operator.isMember(node) && !operator.lost.has(node));
}

/** For every configuration that is in effect on some replica. */
async function votersOf(world: World, operator: Operator): Promise<(readonly Member[])[]> {
  const known = () =>
    world.nodes.flatMap(({ store, log }) => {
      if (!store || !log) return [];
      const { voters, outgoing } = log.status().configuration;
      return outgoing ? [voters, outgoing] : [voters];
    });
  for (const node of world.nodes) {
    if (!node.isRunning && operator.mayStart(node)) void node.start();
  }
  await until(world, progressMs, () => known().length > 0);
  const voters = known();
  if (voters.length === 0) throw new Error('no replica starts');
  return voters;
}

function isMajority(nodes: readonly SimNode[], voters: readonly Member[]): boolean {
  const count = voters.filter((voter) => nodes.some(({ name }) => name === voter.name)).length;
  return count * 2 > voters.length;
}

function judge(world: World, contents: readonly ReplicaContent[]): Violation[] {
  const { truth, notes, watchers } = world;
  const state = new ReplayedState(truth.complete());
  return [
    ...checkHistory({
      state,
      writes: notes.writes,
      reads: notes.reads,
      expires: (key) => key.startsWith(expiringPrefix),
    }),
    ...watchers.flatMap(({ record }) => checkWatch(record, state)),
    ...checkContents(contents, state),
  ];
}
