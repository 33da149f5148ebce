/** The status of a core. */
import type { Leader } from './leader.js';
import type { CoreState } from './state/core-state.js';
import type { Configuration, LogIndex, MemberId, Role, Term } from './types.js';

export interface PeerProgress {
  readonly id: MemberId;
  readonly matchIndex: LogIndex;
  readonly appliedIndex: LogIndex;
  readonly state: 'probe' | 'replicate' | 'snapshot';
  /** Responded within the last election timeout. */
  readonly recentlyActive: boolean;
}

export interface CoreStatus {
  readonly role: Role;
  readonly term: Term;
  readonly leader: MemberId | undefined;
  readonly commitIndex: LogIndex;
  readonly appliedIndex: LogIndex;
  /** First entry that is still in the log. */
  readonly firstIndex: LogIndex;
  readonly lastIndex: LogIndex;
  /** Durable here. */
  readonly stableIndex: LogIndex;
  /** In effect, committed or not. */
  readonly configuration: Configuration;
  readonly configurationIndex: LogIndex;
  readonly admitted: boolean;
  readonly needsSnapshot: boolean;
  readonly transferring: boolean;
  /** Append messages dropped since their entries did not match their checksums. */
  readonly damagedAppends: number;
  /** At the leader: proposed and not yet committed. */
  readonly uncommittedBytes: number;
  /** At the leader: progress of the other members; empty elsewhere. */
  readonly progress: readonly PeerProgress[];
}

export function describeStatus(
  state: CoreState,
  leader: Leader | undefined,
  transferring: boolean,
): CoreStatus {
  const progress: PeerProgress[] = [];
  for (const peer of leader?.replication.all ?? []) {
    progress.push({
      id: peer.id,
      matchIndex: peer.matchIndex,
      appliedIndex: peer.appliedIndex,
      state: peer.state,
      recentlyActive: leader?.replication.isActive(peer.id) ?? false,
    });
  }
  return {
    role: state.role,
    term: state.term,
    leader: state.leader,
    commitIndex: state.commitIndex,
    appliedIndex: state.appliedIndex,
    firstIndex: state.log.firstIndex,
    lastIndex: state.log.last.index,
    stableIndex: state.writes.stableIndex,
    configuration: state.configurations.current,
    configurationIndex: state.configurations.currentIndex,
    admitted: state.admitted,
    needsSnapshot: state.needsSnapshot,
    transferring,
    damagedAppends: state.damagedAppends,
    uncommittedBytes: leader?.proposals.uncommittedBytes ?? 0,
    progress,
  };
}
