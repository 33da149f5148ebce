/**
 * Sends and receives the whole state for the log. Invariants: at most one state is received at a
 * time; a crash leaves the old state or the new one on disk; memory and disk change to the new
 * state in one turn of the event loop.
 */

import type { LoopClock } from '@orch/component';
import { invariant } from '@orch/component';
import {
  type Disk,
  type IncomingSnapshot,
  LogError,
  type OutgoingSnapshot,
  type SnapshotHandlers,
  type SnapshotPoint,
} from '@orch/raft';
import type { StateMachine } from '../core/state-machine.js';
import type { LiveState } from '../state/live-state.js';
import { StateDatabase } from '../state/state-database.js';
import type { StoreOptions } from '../store-options.js';
import { IncomingState } from './incoming.js';
import { openOutgoing } from './outgoing.js';

/** Owns the state in use. */
export interface StateOwner {
  /** Returns the state; undefined while none can be read. */
  readonly live: () => LiveState | undefined;
  /** Stops writes, sweeps and reads from disk and closes the database. */
  readonly suspend: () => Promise<void>;
  /** Puts the new state into use. */
  readonly replace: (machine: StateMachine, database: StateDatabase) => void;
}

export interface StateSnapshotsContext {
  readonly directory: string;
  readonly disk: Disk;
  readonly clock: LoopClock;
  readonly options: StoreOptions;
}

/** Returns the directory of a state that is being received. */
export function incomingDirectory(stateDirectory: string): string {
  return `${stateDirectory}.incoming`;
}

export class StateSnapshots implements SnapshotHandlers {
  private incoming: IncomingState | undefined;
  private installing: Promise<void> | undefined;

  constructor(
    private readonly context: StateSnapshotsContext,
    private readonly owner: StateOwner,
  ) {}

  async open(): Promise<OutgoingSnapshot> {
    const live = this.owner.live();
    if (!live) throw new LogError('Stopped', 'no state can be sent now');
    return openOutgoing(live);
  }

  async receive(): Promise<IncomingSnapshot> {
    const { directory, disk, clock, options } = this.context;
    // The directory is in use during an installation. The log gets the error of the installation.
    await Promise.allSettled([this.installing]);
    await this.incoming?.discard();
    const incoming = incomingDirectory(directory);
    this.incoming = await IncomingState.open(incoming, disk, clock, options);
    return this.incoming;
  }

  install(point: SnapshotPoint): Promise<void> {
    this.installing = this.replaceState(point);
    return this.installing;
  }

  /** Completes an installation in progress and deletes a received state that was not installed. */
  async stop(): Promise<void> {
    // The log gets its error.
    await Promise.allSettled([this.installing]);
    await this.incoming?.discard();
  }

  private async replaceState(point: SnapshotPoint): Promise<void> {
    const { directory, disk } = this.context;
    const incoming = this.incoming;
    const machine = incoming?.machine;
    invariant(
      incoming !== undefined && machine?.appliedIndex === point.index,
      'no finished snapshot of this entry can be installed',
      { index: point.index, received: machine?.appliedIndex },
    );
    await incoming.seal(point);
    await this.owner.suspend();
    await disk.replaceDirectory(incoming.directory, directory);
    this.incoming = undefined;
    this.owner.replace(machine, await StateDatabase.open(disk, directory));
  }
}
