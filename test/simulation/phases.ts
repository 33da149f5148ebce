/** What every run goes through in the end: waiting, coming to rest, being read. */
import type { Violation } from '../history/history.js';
import { type ReplicaContent, readContent } from './replica-content.js';
import type { SimNode } from './sim-node.js';
import type { World } from './world.js';

/** Simulated time in which all replicas must be equal, and in which they must have been read. */
const convergenceMs = 240_000;
const readingMs = 60_000;
/** How long everything is idle before it is checked. */
const healthyMs = 500;
/** Steps of one phase without an end in time: something spins. */
const stepsMax = 3_000_000;

/** Nothing is wrong so far. */
export function isSound({ truth, failures }: World): boolean {
  return truth.violations.length === 0 && failures.length === 0;
}

/** False when it has not come about within the simulated time. */
export async function until(
  world: World,
  forMs: number,
  condition: () => boolean,
): Promise<boolean> {
  const { loop } = world;
  const untilMs = loop.nowMs + forMs;
  const stepsUntil = loop.stepCount + stepsMax;
  while (loop.nowMs < untilMs && isSound(world)) {
    if (condition()) return true;
    if (loop.stepCount > stepsUntil) throw new Error('steps without an end: something spins');
    await loop.step();
  }
  return condition();
}

/** Clients stop, and all that `counts` come to the same; then the watches stop. */
export async function comeToRest(
  world: World,
  counts: (node: SimNode) => boolean,
): Promise<Violation[]> {
  world.stopClients();
  const isSame = () => {
    const hashes = world.nodes
      .filter(counts)
      .map(({ store }) => (store?.status().ready ? JSON.stringify(store.stateHash()) : undefined));
    return hashes.every((hash) => hash !== undefined && hash === hashes[0]);
  };
  if (!(await until(world, convergenceMs, isSame))) {
    return [{ rule: 'replicas do not come to the same', detail: describe(world, world.nodes) }];
  }
  await until(world, healthyMs, () => false);
  world.stopWatchers();
  return [];
}

/**
 * The content of all replicas at one moment: while they are read, objects may expire and history be
 * compacted.
 */
export async function readContents(world: World): Promise<ReplicaContent[]> {
  const newest = () =>
    Math.max(0, ...world.nodes.map(({ store, log }) => (store && log?.status().commitIndex) || 0));
  const haveIt = () =>
    world.nodes.every(({ store, log }) => !store || log?.status().appliedIndex === newest());
  for (;;) {
    const isEqual = await until(world, readingMs, haveIt);
    const before = newest();
    const contents = await readOnce(world);
    if (!isEqual || newest() === before) return contents;
  }
}

async function readOnce(world: World): Promise<ReplicaContent[]> {
  let contents: ReplicaContent[] | undefined;
  let failure: unknown;
  Promise.all(world.nodes.map(readContent)).then(
    (read) => {
      contents = read.filter((content) => content !== undefined);
    },
    (error: unknown) => {
      failure = error;
    },
  );
  await until(world, readingMs, () => (contents ?? failure) !== undefined);
  if (!contents) throw new Error('the replicas could not be read in the end', { cause: failure });
  return contents;
}

export function describe(world: World, nodes: readonly SimNode[]): string {
  return nodes
    .map((node) => {
      const { name, store, log, broken, isRunning } = node;
      if (!isRunning) return `${name}: not running ${broken ?? ''}`;
      if (!store || !log) return `${name}: not open`;
      const { role, term, commitIndex, appliedIndex, lastIndex, unavailableReason } = log.status();
      return `${name}: ${role} of term ${term}, commit ${commitIndex}, applied ${appliedIndex}, last ${lastIndex}, revision ${store.revision()} of ${world.truth.revision}, ${unavailableReason ?? 'available'}`;
    })
    .join('; ');
}
