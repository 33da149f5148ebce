/**
 * Makes the data directory of one member of a NEW cluster from a backup. Every member is made from the
 * same file with the same words, and so they agree on everything.
 *
 * The new cluster has another id: members of the old one and of the new never speak to each other. Its
 * revision lies far ahead of the backup's and history begins there, so that clients which saw later
 * revisions of the old cluster are told to list again instead of missing events.
 */
import {
  bootstrapCluster,
  type InitialMember,
  type LogIndex,
  randomId,
  type SnapshotPoint,
} from '@orch/raft';
import { logDirectory, stateDirectory } from '../in-thread-store.js';
import { IncomingState } from '../snapshot/incoming.js';
import { DEFAULT_STORE_OPTIONS } from '../store-options.js';
import { StoreError } from '../versioned-store.js';
import { type BackupTools, logStoreOf, REAL_TOOLS } from './backup-tools.js';
import { inspectSnapshot, snapshotChunks } from './snapshot-file.js';

export interface RestoreRequest {
  /** A backup, as `saveSnapshot` gives it. */
  readonly file: string;
  /** Must hold no log and no state; made when absent. */
  readonly dataDirectory: string;
  readonly memberName: string;
  /** All members of the new cluster, `memberName` among them. */
  readonly initialCluster: readonly InitialMember[];
  /** Keeps this cluster apart from others with the same members. */
  readonly token: string;
  /** How far the revision moves ahead. Must be more than what the old cluster wrote after the backup. */
  readonly revisionBump?: number;
}

export interface Restored {
  readonly clusterId: string;
  readonly memberId: string;
  readonly revision: number;
  readonly keyCount: number;
}

const REVISION_BUMP = 1_000_000_000;
/** Of the entry that the backup stands for; elections begin above it. */
const FIRST_TERM = 1;

/**
 * Rejects with StoreError `BadDirectory` when something is there already, StoreError or LogError
 * `Corrupt` for a damaged backup, LogError `BadConfiguration` for members that do not fit together.
 */
export async function restoreDataDirectory(
  request: RestoreRequest,
  tools: BackupTools = REAL_TOOLS,
): Promise<Restored> {
  const { file, dataDirectory, memberName, initialCluster, token } = request;
  const { revisionBump = REVISION_BUMP } = request;
  if (!Number.isSafeInteger(revisionBump) || revisionBump < 0) {
    throw new RangeError(`revisionBump must be a whole number from 0 on, not ${revisionBump}`);
  }
  const { disk, clock, random } = tools;
  const state = stateDirectory(dataDirectory);
  for (const directory of [logDirectory(dataDirectory), state]) {
    if (!(await disk.exists(directory))) continue;
    throw new StoreError(
      'BadDirectory',
      `${directory} exists already: restore into a directory that holds no replica`,
    );
  }
  const { byteCount, checksum } = await inspectSnapshot(file);
  const words = JSON.stringify([token, byteCount, checksum]);
  const { clusterId, self, configuration } = bootstrapCluster(words, initialCluster, memberName);

  const incoming = await IncomingState.open(
    `${state}.incoming`,
    disk,
    clock,
    DEFAULT_STORE_OPTIONS,
  );
  let appliedIndex: LogIndex;
  try {
    for await (const chunk of snapshotChunks(file)) await incoming.write(chunk);
    ({ appliedIndex } = await incoming.finish());
    const { revision, keyCount } = await incoming.moveAhead(revisionBump);
    const point: SnapshotPoint = { index: appliedIndex, term: FIRST_TERM, checksum, configuration };
    await incoming.seal(point);
    // A state without a log is refused at a start; a log without a state would wait for the others'.
    await disk.replaceDirectory(incoming.directory, state);
    const identity = { clusterId, memberId: self.id, storageId: randomId(random) };
    const log = logStoreOf(tools, dataDirectory);
    try {
      await log.load();
      await log.create(identity, point, configuration.voters.length === 1);
    } finally {
      await log.close();
    }
    return { clusterId, memberId: self.id, revision, keyCount };
  } catch (error) {
    await incoming.discard();
    await disk.removeDirectory(logDirectory(dataDirectory));
    await disk.removeDirectory(state);
    throw error;
  }
}
