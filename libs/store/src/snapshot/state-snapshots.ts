/**
 * How the log gets at the state as a whole. Invariants: at most one state comes in at a time; on disk a
 * crash leaves the old state or the new one; in memory both change within one turn of the loop.
 */
import type { LoopClock } from '@orch/component';
import {
  type Disk,
  type IncomingSnapshot,
  LogError,
  type OutgoingSnapshot,
  type SnapshotHandlers,
  type SnapshotPoint,
} from '@orch/raft';
import type { StateMachine } from '../core/state-machine.js';
import type { LiveState } from '../shell/live-state.js';
import { StateDatabase } from '../shell/state-database.js';
import type { StoreOptions } from '../store-options.js';
import { IncomingState } from './incoming.js';
import { openOutgoing } from './outgoing.js';

/** What has the state in use, and changes it. */
export interface StateOwner {
  /** Undefined while there is none that could be read. */
  readonly live: () => LiveState | undefined;
  /** Nothing is written, swept or read from disk any more; the database is closed. */
  readonly suspend: () => Promise<void>;
  /** This is the state from now on. */
  readonly replace: (machine: StateMachine, database: StateDatabase) => void;
}

export interface StateSnapshotsContext {
  readonly directory: string;
  readonly disk: Disk;
  readonly clock: LoopClock;
  readonly options: StoreOptions;
}

/** Where a state that comes in is built. */
export function incomingDirectory(stateDirectory: string): string {
  return `${stateDirectory}.incoming`;
}

export class StateSnapshots implements SnapshotHandlers {
  #incoming: IncomingState | undefined;
  #installing: Promise<void> | undefined;

  constructor(
    private readonly context: StateSnapshotsContext,
    private readonly owner: StateOwner,
  ) {}

  async open(): Promise<OutgoingSnapshot> {
    const live = this.owner.live();
    if (!live) throw new LogError('Stopped', 'there is no state to be sent now');
    return openOutgoing(live);
  }

  async receive(): Promise<IncomingSnapshot> {
    const { directory, disk, clock, options } = this.context;
    // One that is being installed lies where the next one is built. Its failure is told to the log.
    await Promise.allSettled([this.#installing]);
    await this.#incoming?.discard();
    const incoming = incomingDirectory(directory);
    this.#incoming = await IncomingState.open(incoming, disk, clock, options);
    return this.#incoming;
  }

  install(point: SnapshotPoint): Promise<void> {
    this.#installing = this.#install(point);
    return this.#installing;
  }

  /** Finishes what is under way and drops a state that came in and was not installed. */
  async stop(): Promise<void> {
    // Its failure is told to the log.
    await Promise.allSettled([this.#installing]);
    await this.#incoming?.discard();
  }

  async #install(point: SnapshotPoint): Promise<void> {
    const { directory, disk } = this.context;
    const incoming = this.#incoming;
    const machine = incoming?.machine;
    if (!incoming || !machine || machine.appliedIndex !== point.index) {
      throw new Error(`invariant broken: no finished snapshot of entry ${point.index} to install`);
    }
    await incoming.seal(point);
    await this.owner.suspend();
    await disk.replaceDirectory(incoming.directory, directory);
    this.#incoming = undefined;
    this.owner.replace(machine, await StateDatabase.open(disk, directory));
  }
}
