/**
 * At the end of a run, another cluster is restored from a backup of the run. Checks that it has
 * exactly the content at the revision of the backup, that its revisions are far ahead, so that
 * clients of the old cluster list again, and that it serves reads and writes.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoopClock, type Timer } from '@orch/component';
import { healthyDisk } from '@orch/raft';
import { inspectSnapshot, type Revision, restoreDataDirectory, StoreError } from '@orch/store';
import { checkHistory } from '../history/check-history.js';
import { checkWatch } from '../history/check-watch.js';
import type { LoggedEvent, Violation, WriteRecord } from '../history/history.js';
import { ReplayedState } from '../history/replayed-state.js';
import { expiringPrefix } from './objects.js';
import { comeToRest, isSound, readContents, until } from './phases.js';
import type { Random } from './random.js';
import { checkContents } from './replica-content.js';
import type { SimNode } from './sim-node.js';
import { World } from './world.js';

const revisionBump = 1_000_000;
const token = 'restored';
const clientCount = 3;
const watcherCount = 2;
const writesWanted = 15;
const workMs = 60_000;

/** The restore is synchronous: the time of the tool is not that of the cluster. */
const standingClock: LoopClock = {
  nowMs: () => 0,
  monotonicMs: () => 0,
  nextTurn: () => Promise.resolve(),
  setTimer: (): Timer => {
    throw new Error('a restoration has nothing to wait for');
  },
};

export async function restoreElsewhere(
  backup: Buffer,
  from: World,
  random: Random,
): Promise<Violation[]> {
  const memberCount = random.pick([1, 3]);
  const world = new World(
    random,
    (line) => from.trace(`restored: ${line}`),
    memberCount,
    undefined,
  );
  world.onFatal = (node, error) => {
    world.failures.push(`restored ${node.name}: ${error.stack ?? error.message}`);
    node.crash({ machine: false });
  };
  const { revision, newRevision } = await restore(backup, world.nodes, random);
  const found = (detail: string) => ({ rule: 'restored cluster', detail });
  for (const node of world.nodes) void node.start();
  world.startClients(clientCount, watcherCount, 'r');
  const { writes } = world.notes;
  const isAtWork = () =>
    writes.filter(({ outcome }) => outcome.kind === 'applied').length >= writesWanted;
  if (!(await until(world, workMs, isAtWork)) && isSound(world)) {
    return [found(`no ${writesWanted} writes within ${workMs} ms`)];
  }
  const violations = isSound(world)
    ? refusesThePast(world.nodes, revision, from.truth.revision)
    : [];
  if (isSound(world)) violations.push(...(await comeToRest(world, () => true)));
  violations.push(...world.truth.violations, ...world.failures.map(found));
  violations.push(...world.notes.faults.map(found));
  if (violations.length > 0) return violations;
  const before = from.truth.complete().filter((event) => event.revision <= revision);
  return judge(world, before, writtenBefore(from, revision), newRevision);
}

/** The same words and the same file for every member. */
async function restore(backup: Buffer, nodes: readonly SimNode[], random: Random) {
  const directory = mkdtempSync(join(tmpdir(), 'simulation-'));
  try {
    const file = join(directory, 'backup');
    writeFileSync(file, backup);
    const { revision } = await inspectSnapshot(file);
    const initialCluster = nodes.map(({ identity }) => identity);
    let newRevision = revision;
    for (const { name, disk, dataDirectory } of nodes) {
      Object.assign(disk.faults, { syncMs: [0, 0] });
      const restored = await restoreDataDirectory(
        { file, dataDirectory, memberName: name, initialCluster, token, revisionBump },
        { disk, clock: standingClock, random: random.next },
      );
      newRevision = restored.revision;
      Object.assign(disk.faults, healthyDisk);
    }
    return { revision, newRevision };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A watch from a revision of the old cluster would miss events: it gets an error. */
function refusesThePast(
  nodes: readonly SimNode[],
  backupRevision: number,
  lastRevision: number,
): Violation[] {
  const violations: Violation[] = [];
  for (const { name, store } of nodes) {
    for (const revision of [backupRevision, lastRevision]) {
      if (store && !isCompacted(() => store.watch(watchAfter(revision)).close())) {
        const detail = `${name} lets a watch continue after ${revision}`;
        violations.push({ rule: 'restored cluster', detail });
      }
    }
  }
  return violations;
}

function watchAfter(revision: number) {
  const nothing = () => undefined;
  const afterRevision = revision as Revision;
  return { prefix: '', afterRevision, onEvents: nothing, onEnd: nothing };
}

function isCompacted(work: () => void): boolean {
  try {
    work();
    return false;
  } catch (error) {
    if (error instanceof StoreError) return error.code === 'Compacted';
    throw error;
  }
}

/** What the restored state comes from; outside of the time of the new cluster. */
function writtenBefore({ notes }: World, revision: number): WriteRecord[] {
  return notes.writes
    .filter(({ outcome }) =>
      outcome.kind === 'applied' ? outcome.revision <= revision : outcome.kind === 'unknown',
    )
    .map(({ kind, client, operations, outcome }) => ({
      kind,
      client,
      operations,
      outcome,
      startedAt: -1,
    }));
}

async function judge(
  world: World,
  before: readonly LoggedEvent[],
  writesBefore: readonly WriteRecord[],
  newRevision: number,
): Promise<Violation[]> {
  const { truth, notes, watchers } = world;
  const since = truth.complete();
  const state = new ReplayedState([...before, ...since]);
  return [
    ...new ReplayedState(since).gaps(newRevision + 1),
    ...checkHistory({
      state,
      writes: [...writesBefore, ...notes.writes],
      reads: notes.reads,
      sharesRevisions: true,
      expires: (key) => key.startsWith(expiringPrefix),
    }),
    ...watchers.flatMap(({ record }) => checkWatch(record, state)),
    ...checkContents(await readContents(world), state),
  ];
}
