/** Types of the log on disk, see `LogStore`. */

import type { InitialState } from '../core/core-options.js';
import type { MemberId } from '../core/types.js';

/** Written once, when the directory is made. */
export interface Identity {
  readonly clusterId: string;
  readonly memberId: MemberId;
  /** Random; identifies this directory, so that a wiped one differs from the one before. */
  readonly storageId: string;
}

/** Replaces the storage id of a removed peer: its member id is never used again. */
export const removedMark = 'removed';

export interface RecoveredLog
  extends Omit<InitialState, 'appliedIndex' | 'needsSnapshot' | 'mayVote'> {
  readonly identity: Identity;
  /** storageId of each peer as first met, or `removedMark`. */
  readonly peers: ReadonlyMap<MemberId, string>;
  /** Has once met every other initial member (or joined later): may take part. */
  readonly admitted: boolean;
}
