/**
 * What a start finds on disk: a state to go on from, or one that cannot be used any more. The latter is
 * left where it is until a snapshot of another replica takes its place.
 */
import type { Logger, LoopClock } from '@orch/component';
import type { AppliedState, Disk, LogIndex } from '@orch/raft';
import { EMPTY_FACTS, StateMachine } from '../core/state-machine.js';
import type { StoreOptions } from '../store-options.js';
import { StoreError } from '../versioned-store.js';
import { restoreState } from './recovery.js';
import { asStoreError, StateDatabase } from './state-database.js';

const NO_CHECKPOINT =
  'the checkpoint of the state is missing: restore this data directory from a backup or another replica';

export interface OpenedState {
  readonly machine: StateMachine;
  readonly database: StateDatabase;
  readonly applied: AppliedState;
}

export interface UnusableState {
  readonly applied: AppliedState;
  /** Why. Code `Corrupt`. */
  readonly unusable: StoreError;
}

/** Rejects with StoreError `BadDirectory` when the directory is not ours to use. */
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
    const appliedIndex = machine.appliedIndex as LogIndex;
    return { machine, database, applied: { appliedIndex, installed, needsSnapshot: false } };
  } catch (raised) {
    await database?.close();
    const error = asStoreError(raised);
    if (!(error instanceof StoreError) || error.code !== 'Corrupt') throw error;
    const applied = { appliedIndex: 0 as LogIndex, installed: undefined, needsSnapshot: true };
    return { applied, unusable: error };
  }
}

/**
 * The newest state, or that of the last checkpoint: a crash of the machine may lose some of what was
 * written later and keep the rest. The log has everything since.
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
    // Nothing is written before this is.
    if (await database.readFacts()) throw new StoreError('Corrupt', NO_CHECKPOINT);
    await database.writeCheckpoint({ facts: EMPTY_FACTS, proposers: new Map() });
    await database.writeFacts(EMPTY_FACTS);
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
      'the newest changes are not whole on disk: the log replays them from the last checkpoint on',
    );
    const earlier = new StateMachine(ringEventsMax, ringBytesMax);
    await restoreState(earlier, database, checkpoint, clock);
    // Whoever reads the database before the log has been replayed must not find facts of another moment.
    await database.returnTo({ facts: checkpoint.facts, proposers: earlier.proposers.encodeAll() });
    return earlier;
  }
}
