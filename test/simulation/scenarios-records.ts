/** Staged: a disk loses records of the state, and the start has to notice. */
import type { LoggedEvent } from '../history/history.js';
import { noteList, type Scenario, type Stage, steadyTuning } from './scenario.js';
import type { SimNode } from './sim-node.js';

export const recordScenarios: readonly Scenario[] = [
  {
    name: 'record-of-a-commit-lost',
    found:
      'a disk lost one of the records of a commit, of a key that was deleted later: the start did not notice, and reads of the past were wrong',
    memberCount: 3,
    async play(stage) {
      const { world, until } = stage;
      const { nodes, truth } = world;
      const [node] = nodes as [SimNode];
      for (const one of nodes) void one.start();
      let place: Place | undefined;
      await until('one of several keys of a commit was deleted later', () => {
        place = oneOfSeveral(truth.complete());
        return place !== undefined;
      });
      const { revision, position, deletedRevision } = place!;
      await until('the writes after its deletion are in the database', () => {
        return isWritten(node, deletedRevision + 1);
      });
      await loseAndRead(stage, node, versionKey(revision, position), revision);
    },
  },
  {
    name: 'record-lost-below-compaction',
    found:
      'a disk lost the version of a key that the oldest readable state has, and that a later version supersedes: the start did not notice, and reads of the past were wrong',
    memberCount: 3,
    tuning: {
      ...steadyTuning,
      store: { ...steadyTuning.store, historyRetentionMs: 500, compactionIntervalMs: 4_000 },
    },
    async play(stage) {
      const { world, until } = stage;
      const { nodes, truth } = world;
      const [node] = nodes as [SimNode];
      for (const one of nodes) void one.start();
      const compactedRevision = () => node.store?.status().compactedRevision ?? 0;
      await until('history is compacted', () => compactedRevision() > 0);
      let edge: Edge | undefined;
      await until('a version that is older than history was superseded within it', () => {
        edge = overEdge(truth.complete(), compactedRevision());
        return edge !== undefined;
      });
      const { lost, successorRevision } = edge!;
      const next = truth.revision + 1;
      await until('all of that is in the database', () => isWritten(node, next));
      await loseAndRead(stage, node, lost, successorRevision - 1);
    },
  },
];

interface Place {
  readonly revision: number;
  readonly position: number;
  /** At which its key was deleted. */
  readonly deletedRevision: number;
}

/** A key of a commit with several keys, which existed before and was deleted next. */
function oneOfSeveral(log: readonly LoggedEvent[]): Place | undefined {
  for (const { revision, kind, key } of log) {
    const commit = log.filter((event) => event.revision === revision);
    const versions = log.filter((event) => event.key === key);
    const at = versions.findIndex((event) => event.revision === revision);
    const isMiddle = versions[at - 1]?.kind === 'put' && versions[at + 1]?.kind === 'delete';
    if (kind !== 'put' || commit.length < 2 || !isMiddle) continue;
    const position = commit.findIndex((event) => event.key === key);
    return { revision, position, deletedRevision: versions[at + 1]!.revision };
  }
  return undefined;
}

/** As the state database names the record of a version. */
function versionKey(revision: number, position: number): Buffer {
  const key = Buffer.from('v/000000000000');
  key.writeBigUInt64BE(BigInt(revision), 2);
  key.writeUInt32BE(position, 10);
  return key;
}

interface Edge {
  /** Its record, as the database names it. */
  readonly lost: Buffer;
  readonly successorRevision: number;
}

/**
 * A version at or below the compacted revision that the next version of its key supersedes above
 * it.
 */
function overEdge(log: readonly LoggedEvent[], compactedRevision: number): Edge | undefined {
  for (const { revision, kind, key } of log) {
    if (kind !== 'put' || revision > compactedRevision) continue;
    const successor = log.find((event) => event.key === key && event.revision > revision);
    if (!successor || successor.revision <= compactedRevision + 1) continue;
    const commit = log.filter((event) => event.revision === revision);
    const position = commit.findIndex((event) => event.key === key);
    return { lost: versionKey(revision, position), successorRevision: successor.revision };
  }
  return undefined;
}

function isWritten(node: SimNode, revision: number): boolean {
  const rows = { gte: versionKey(revision, 0), lt: versionKey(revision + 1, 0) };
  return node.disk.rowsOf(stateOf(node), rows).length > 0;
}

function stateOf({ dataDirectory }: SimNode): string {
  return `${dataDirectory}/state`;
}

/** Restarts the process without that record, and reads the state of `revision`. */
async function loseAndRead(
  { world, until }: Stage,
  node: SimNode,
  record: Buffer,
  revision: number,
): Promise<void> {
  node.crash({ machine: false });
  node.disk.loseRecord(stateOf(node), record);
  void node.start();
  await until('it shows a state again', () => node.store?.status().ready === true);
  let isRead = false;
  void noteList(world, node, { kind: 'exact', revision }).then((read) => {
    isRead = read !== undefined;
  });
  await until('the past was read', () => isRead);
}
