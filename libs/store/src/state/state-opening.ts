/**
 * Opens the state on disk: a state to continue from, or an unusable one, which stays on disk until
 * a snapshot of another replica replaces it.
 */

import type { Logger, LoopClock } from '@orch/component';
import type { AppliedState, Disk } from '@orch/raft';
import { asLogIndex, noIndex } from '@orch/raft';
import { emptyFacts, StateMachine } from '../core/state-machine.js';
import type { StoreOptions } from '../store-options.js';
import { StoreError } from '../versioned-store.js';
import { restoreState } from './recovery.js';
import { asStoreError, StateDatabase } from './state-database.js';

const noCheckpoint =
  'the checkpoint of the state is missing: restore this data directory from a backup or another replica';

export interface OpenedState {
  readonly machine: StateMachine;
  readonly database: StateDatabase;
  readonly applied: AppliedState;
}

export interface UnusableState {
  readonly applied: AppliedState;
  /** The reason. Code `Corrupt`. */
  readonly unusable: StoreError;
}

/** Rejects with StoreError `BadDirectory` if the directory belongs to another program. */
export async function openState(
  directory: string,
  disk: Disk,
  clock: LoopClock,
  logger: Logger,
  options: StoreOptions,
): Promise<OpenedState | UnusableState> {
  let database: StateDatabase | undefined;
  try {
    database = await StateDatabase.open(disk, directory);
    const resync = await database.readResync();
    if (resync !== undefined) throw new StoreError('Corrupt', resync);
    const machine = await readState(database, clock, logger, options);
    const installed = await database.readInstalled();
    const appliedIndex = asLogIndex(machine.appliedIndex);
    return { machine, database, applied: { appliedIndex, installed, needsSnapshot: false } };
  } catch (raised) {
    await database?.close();
    const error = asStoreError(raised);
    if (!(error instanceof StoreError) || error.code !== 'Corrupt') throw error;
    const applied = { appliedIndex: noIndex, installed: undefined, needsSnapshot: true };
    return { applied, unusable: error };
  }
}

/**
 * Reads the newest state, or that of the last checkpoint: a crash of the machine may lose some of
 * the later writes and retain others. The log has every entry since the checkpoint.
 */
async function readState(
  database: StateDatabase,
  clock: LoopClock,
  logger: Logger,
  options: StoreOptions,
): Promise<StateMachine> {
  const { ringEventsMax, ringBytesMax } = options;
  const checkpoint = await database.readCheckpoint();
  if (!checkpoint) {
    // Written before anything else.
    if (await database.readFacts()) throw new StoreError('Corrupt', noCheckpoint);
    await database.writeCheckpoint({ facts: emptyFacts, proposers: new Map() });
    await database.writeFacts(emptyFacts);
    return new StateMachine(ringEventsMax, ringBytesMax);
  }
  const machine = new StateMachine(ringEventsMax, ringBytesMax);
  try {
    const newest = await database.readNewest();
    if (!newest) throw new StoreError('Corrupt', 'the facts of the newest state are missing');
    await restoreState(machine, database, newest, clock);
    return machine;
  } catch (raised) {
    const error = asStoreError(raised);
    if (!(error instanceof StoreError) || error.code !== 'Corrupt') throw error;
    const { appliedIndex } = checkpoint.facts;
    logger.warn(
      { error, appliedIndex },
      'the newest changes are incomplete on disk: the log replays them from the last checkpoint on',
    );
    const earlier = new StateMachine(ringEventsMax, ringBytesMax);
    await restoreState(earlier, database, checkpoint, clock);
    // A reader of the database must not find later facts before the log has been replayed.
    await database.returnTo({ facts: checkpoint.facts, proposers: earlier.proposers.encodeAll() });
    return earlier;
  }
}
