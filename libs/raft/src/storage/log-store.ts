/** The seam between the shell and the log on disk. `DatabaseLogStore` implements it over any `Disk`. */
import type {
  Configuration,
  Entry,
  InitialState,
  LogPoint,
  MemberId,
  SnapshotPoint,
  WriteRequest,
} from '../core/types.js';
import type { LogIndex } from '../replicated-log.js';

/** Written once, when the directory is made. */
export interface Identity {
  readonly clusterId: string;
  readonly memberId: MemberId;
  /** Random; names this directory, so that a wiped one is told from the one before. */
  readonly storageId: string;
}

/** In place of the directory of a peer that was removed: its id never comes back. */
export const REMOVED = 'removed';

export interface StoredLog
  extends Omit<InitialState, 'appliedIndex' | 'needsSnapshot' | 'mayVote'> {
  readonly identity: Identity;
  /** storageId of each peer as first met, or `REMOVED`. */
  readonly peers: ReadonlyMap<MemberId, string>;
  /** Has once met every other initial member (or joined later): may take part. */
  readonly admitted: boolean;
}

export interface LogStore {
  /** Undefined in a new directory: `create` must follow. Rejects with LogError `BadDirectory` or `Corrupt`. */
  load(): Promise<StoredLog | undefined>;
  /** Makes a new log that begins after `start`. */
  create(identity: Identity, start: SnapshotPoint, admitted: boolean): Promise<StoredLog>;
  /** One synced batch. One at a time. A rejection leaves the outcome open: the log is done for. */
  write(
    request: Omit<WriteRequest, 'id'>,
    configurations: readonly { index: LogIndex; configuration: Configuration }[],
  ): Promise<void>;
  /** Checked entries `[from, to]`, at least one, at most `bytesMax` together; undefined when cut off. Rejects with `Corrupt`. */
  read(from: LogIndex, to: LogIndex, bytesMax: number): Promise<Entry[] | undefined>;
  /**
   * Forgets entries up to `index`, at most to the last one stored (a leader may have applied what only
   * others have stored by now); the new start is durable before anything is deleted. Resolves with it.
   */
  cut(index: LogIndex): Promise<LogPoint>;
  /** The log begins after `point`: keeps what follows if the entry at `point` is the same, else drops all. Synced. */
  moveTo(point: SnapshotPoint): Promise<void>;
  /** `storageId`: as first met; `REMOVED` may take its place. */
  notePeer(peer: MemberId, storageId: string): Promise<void>;
  noteAdmitted(): Promise<void>;
  sizeBytes(): Promise<number>;
  close(): Promise<void>;
}
