/**
 * Makes the data directory of one member of a NEW cluster from a backup. Every member is restored
 * from the same file with the same parameters, so that they agree on the state.
 *
 * The new cluster has another id, so that members of the old and of the new cluster refuse each
 * other. Its revision is far ahead of the backup's and its history starts there, so that clients
 * which saw later revisions of the old cluster must list again instead of missing events.
 */
import {
  asTerm,
  bootstrapCluster,
  type InitialMember,
  type LogIndex,
  randomId,
  type SnapshotPoint,
} from '@orch/raft';
import { logDirectory, stateDirectory } from '../in-thread-store.js';
import { IncomingState } from '../snapshot/incoming.js';
import { defaultStoreOptions } from '../store-options.js';
import { StoreError } from '../versioned-store.js';
import { type BackupTools, logStoreOf, realTools } from './backup-tools.js';
import { inspectSnapshot, snapshotChunks } from './snapshot-file.js';

export interface RestoreRequest {
  /** A backup written by `saveSnapshot`. */
  readonly file: string;
  /** Must contain no log and no state; created if it is missing. */
  readonly dataDirectory: string;
  readonly memberName: string;
  /** All members of the new cluster, `memberName` among them. */
  readonly initialCluster: readonly InitialMember[];
  /** Distinguishes this cluster from others with the same members. */
  readonly token: string;
  /**
   * How far the revision moves ahead. Must be more than the revisions that the old cluster created
   * after the backup.
   */
  readonly revisionBump?: number;
}

export interface Restored {
  readonly clusterId: string;
  readonly memberId: string;
  readonly revision: number;
  readonly keyCount: number;
}

const defaultRevisionBump = 1_000_000_000;
/** Term of the entry that the backup represents; elections use later terms. */
const firstTerm = 1;

/**
 * Restores one member. Rejects with StoreError `BadDirectory` if the directory is in use,
 * StoreError or LogError `Corrupt` for a damaged backup, LogError `BadConfiguration` for
 * inconsistent members.
 */
export async function restoreDataDirectory(
  request: RestoreRequest,
  tools: BackupTools = realTools,
): Promise<Restored> {
  const { file, dataDirectory, memberName, initialCluster, token } = request;
  const { revisionBump = defaultRevisionBump } = request;
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

  const incoming = await IncomingState.open(`${state}.incoming`, disk, clock, defaultStoreOptions);
  let appliedIndex: LogIndex;
  try {
    for await (const chunk of snapshotChunks(file)) await incoming.write(chunk);
    ({ appliedIndex } = await incoming.finish());
    const { revision, keyCount } = await incoming.moveAhead(revisionBump);
    const point: SnapshotPoint = {
      index: appliedIndex,
      term: asTerm(firstTerm),
      checksum,
      configuration,
    };
    await incoming.seal(point);
    // The state first: a start rejects a state without a log, but a log without a state would wait
    // for a snapshot.
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
