/**
 * Receiving a snapshot: taken only from the leader of the current term and only if it brings this
 * replica further (or if its state is unusable). Installed when no write is under way; what follows the
 * snapshot in the log is kept if the log agrees with it, else dropped, just as `LogStore.moveTo` does.
 */
import type { LogIndex } from '../replicated-log.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import type { Delivery } from './delivery.js';
import type { Follower } from './follower.js';
import { invariant } from './invariant.js';
import type { MemberId, SnapshotPoint, Term } from './types.js';

export class Snapshots {
  /** The shell is installing it. */
  #handedOver = false;

  constructor(
    private readonly state: CoreState,
    private readonly follower: Follower,
    private readonly delivery: Delivery,
  ) {}

  /** True while no write may begin. */
  get blocksWrites(): boolean {
    return this.#handedOver;
  }

  onReceived(point: SnapshotPoint, from: MemberId, term: Term): void {
    const { state } = this;
    const fromLeader = term === state.term && from === state.leader;
    if (fromLeader && !state.installing && this.#isWanted(point)) {
      state.installing = point;
      return;
    }
    mark('snapshotRefused');
    state.outbox.snapshotsRefused.push(point);
    // The leader sends snapshots to whom it believes to be behind: tell that this one is not.
    if (fromLeader && !state.installing && !state.needsSnapshot) {
      this.follower.acknowledge(from, state.commitIndex);
    }
  }

  /** The snapshot to install, once nothing else is being written. */
  take(): SnapshotPoint | undefined {
    const { state } = this;
    if (!state.installing || this.#handedOver || !state.writes.idle) return undefined;
    if (!this.#isWanted(state.installing)) {
      mark('snapshotRefused');
      state.outbox.snapshotsRefused.push(state.installing);
      state.installing = undefined;
      return undefined;
    }
    this.#handedOver = true;
    return state.installing;
  }

  onInstalled(point: SnapshotPoint): void {
    const { state } = this;
    invariant(
      this.#handedOver && state.installing?.index === point.index,
      `snapshot ${point.index} is not the one being installed`,
    );
    this.#handedOver = false;
    state.installing = undefined;
    const keepsLog =
      point.index >= state.log.start.index && state.log.termAt(point.index) === point.term;
    if (keepsLog) {
      mark('snapshotInstalledLogKept');
      state.log.cutTo(point);
    } else {
      mark('snapshotInstalledLogReplaced');
      state.log.reset(point);
      state.writes.reset(point.index);
    }
    state.configurations.replaceUpTo(point.index, point.configuration, keepsLog);
    state.needsSnapshot = false;
    state.commitTo(point.index);
    this.delivery.restartAfter(point);
    if (state.leader !== undefined && state.leader !== state.id) {
      this.follower.acknowledge(state.leader, point.index);
    }
  }

  #isWanted(point: SnapshotPoint): boolean {
    const { state } = this;
    const minimum = state.needsSnapshot ? state.log.start.index : state.commitIndex + 1;
    return point.index >= (minimum as LogIndex);
  }
}
