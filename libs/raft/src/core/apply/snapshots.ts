/**
 * Receives a snapshot. Accepts it only from the leader of the current term, and only if it is ahead
 * of the commit index (or the state is unusable). Installs it when no write is in progress. Entries
 * after the snapshot stay if the log agrees with it, otherwise the log is replaced, as
 * `LogStore.moveTo` does.
 */

import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import type { Follower } from '../replication/follower.js';
import type { CoreState } from '../state/core-state.js';
import type { MemberId, SnapshotPoint, Term } from '../types.js';
import type { Delivery } from './delivery.js';

export class Snapshots {
  /** The replica is installing it. */
  private handedOver = false;

  constructor(
    private readonly state: CoreState,
    private readonly follower: Follower,
    private readonly delivery: Delivery,
  ) {}

  /** True while no write may begin. */
  get blocksWrites(): boolean {
    return this.handedOver;
  }

  onReceived(point: SnapshotPoint, from: MemberId, term: Term): void {
    const { state } = this;
    const fromLeader = term === state.term && from === state.leader;
    if (fromLeader && !state.installing && this.isWanted(point)) {
      state.installing = point;
      return;
    }
    mark('snapshotRefused');
    state.outbox.snapshotsRefused.push(point);
    // The leader believes that this replica is behind: acknowledge its commit index.
    if (fromLeader && !state.installing && !state.needsSnapshot) {
      this.follower.acknowledge(from, state.commitIndex);
    }
  }

  /** The snapshot to install, once nothing else is being written. */
  take(): SnapshotPoint | undefined {
    const { state } = this;
    if (!state.installing || this.handedOver || !state.writes.idle) return undefined;
    if (!this.isWanted(state.installing)) {
      mark('snapshotRefused');
      state.outbox.snapshotsRefused.push(state.installing);
      state.installing = undefined;
      return undefined;
    }
    invariant(state.activeRole !== 'leader' || state.needsSnapshot, 'a leader takes a snapshot');
    this.handedOver = true;
    return state.installing;
  }

  onInstalled(point: SnapshotPoint): void {
    const { state } = this;
    invariant(
      this.handedOver && state.installing?.index === point.index,
      `snapshot ${point.index} is not the one being installed`,
    );
    this.handedOver = false;
    state.installing = undefined;
    const keepsLog =
      point.index >= state.log.start.index && state.log.termAt(point.index) === point.term;
    if (keepsLog) {
      mark('snapshotInstalledLogKept');
      state.log.compactTo(point);
    } else {
      mark('snapshotInstalledLogReplaced');
      state.log.reset(point);
      state.writes.reset(point.index);
    }
    state.configurations.replaceUpTo(point.index, point.configuration, keepsLog);
    state.needsSnapshot = false;
    state.commitTo(point.index);
    this.delivery.restartAfter(point);
    invariant(state.commitIndex >= point.index, 'a snapshot is installed but not committed');
    invariant(state.log.last.index >= point.index, 'the log ends before the installed snapshot');
    invariant(state.appliedIndex === point.index, 'the state is not that of the snapshot');
    if (state.leader !== undefined && state.leader !== state.id) {
      this.follower.acknowledge(state.leader, point.index);
    }
  }

  private isWanted(point: SnapshotPoint): boolean {
    const { state } = this;
    const minimum = state.needsSnapshot ? state.log.start.index : state.commitIndex + 1;
    return point.index >= minimum;
  }
}
