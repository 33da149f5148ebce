/**
 * How far the log may be compacted: never beyond the state on disk, and less far for members that
 * are behind, because entries cost less than a snapshot.
 */

import { asLogIndex } from '../../core/brands.js';
import type { PeerProgress } from '../../core/status.js';
import type { LogIndex, MemberId } from '../../core/types.js';
import { activeFollowerLagMax } from '../../limits.js';

export interface CompactionLimits {
  /** The state has it on disk. */
  readonly durableIndex: LogIndex;
  readonly firstIndex: LogIndex;
  /** Entries retained for all members. */
  readonly keepEntries: number;
  /** At the leader. */
  readonly progress: readonly PeerProgress[];
  readonly self: MemberId;
  /** The oldest state that is being sent. */
  readonly sendingIndex: LogIndex | undefined;
}

/** The index up to which to compact; undefined: nothing to compact. */
export function compactionIndex(limits: CompactionLimits): LogIndex | undefined {
  const { durableIndex, firstIndex, keepEntries, progress, self, sendingIndex } = limits;
  let index: number = durableIndex - keepEntries;
  for (const peer of progress) {
    if (peer.id === self || !peer.recentlyActive || peer.state === 'snapshot') continue;
    // Entries are retained for an active follower, up to a limit.
    index = Math.min(index, Math.max(peer.matchIndex, durableIndex - activeFollowerLagMax));
  }
  if (sendingIndex !== undefined) index = Math.min(index, sendingIndex);
  return index < firstIndex ? undefined : asLogIndex(index);
}
