/**
 * How far the log may be forgotten: never beyond what the state has on disk, keeping some more for those
 * who are behind, since entries are cheaper for them than the whole state.
 */
import type { MemberId } from '../core/types.js';
import { LOG_KEEP_ACTIVE_MAX } from '../limits.js';
import type { LogIndex, PeerProgress } from '../replicated-log.js';

export interface CutLimits {
  /** The state has it on disk. */
  readonly durableIndex: LogIndex;
  readonly firstIndex: LogIndex;
  /** Entries kept for everybody. */
  readonly keepEntries: number;
  /** At the leader. */
  readonly progress: readonly PeerProgress[];
  readonly self: MemberId;
  /** The oldest state that is being sent. */
  readonly sendingIndex: LogIndex | undefined;
}

/** The index up to which to cut; undefined: nothing to cut. */
export function cutIndex(limits: CutLimits): LogIndex | undefined {
  const { durableIndex, firstIndex, keepEntries, progress, self, sendingIndex } = limits;
  let index: number = durableIndex - keepEntries;
  for (const peer of progress) {
    if (peer.id === self || !peer.recentlyActive || peer.state === 'snapshot') continue;
    // Whoever answers is waited for, but not for ever.
    index = Math.min(index, Math.max(peer.matchIndex, durableIndex - LOG_KEEP_ACTIVE_MAX));
  }
  if (sendingIndex !== undefined) index = Math.min(index, sendingIndex);
  return index < firstIndex ? undefined : (index as LogIndex);
}
