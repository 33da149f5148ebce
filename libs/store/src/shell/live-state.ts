/**
 * The state in use, in memory and on disk. Replaced as a whole, between two slices of the log, when a
 * snapshot is installed; so whoever takes it once and looks without awaiting sees one moment.
 */
import type { LoopClock } from '@orch/component';
import type { ReplicatedLog } from '@orch/raft';
import type { StateMachine } from '../core/state-machine.js';
import type { StoreObserver } from '../store-observer.js';
import type { StoreOptions } from '../store-options.js';
import { Checkpointer } from './checkpointer.js';
import { Lister } from './lister.js';
import type { StateDatabase } from './state-database.js';
import { StateWriter } from './state-writer.js';
import { VersionReader } from './version-reader.js';

export interface LiveState {
  readonly machine: StateMachine;
  readonly database: StateDatabase;
  readonly writer: StateWriter;
  readonly checkpointer: Checkpointer;
  readonly reader: VersionReader;
  readonly lister: Lister;
}

export interface LiveStateContext {
  readonly log: ReplicatedLog;
  readonly clock: LoopClock;
  readonly options: StoreOptions;
  readonly observer: StoreObserver | undefined;
  readonly onFatal: (error: Error) => void;
  /** Until the log runs, it cannot be cut. */
  readonly mayCut: () => boolean;
  /** One was made, or tried. */
  readonly onCheckpoint: () => void;
}

/** `machine` is what `database` holds. */
export function liveState(
  machine: StateMachine,
  database: StateDatabase,
  context: LiveStateContext,
): LiveState {
  const { clock, observer, onFatal } = context;
  const reader = new VersionReader(machine, database);
  const checkpointer = new Checkpointer(machine, database, context);
  const writer: StateWriter = new StateWriter(
    database,
    clock,
    machine.facts,
    (facts, byteCount) => {
      machine.ring.persisted(facts.revision);
      checkpointer.written(facts, byteCount, writer);
    },
    onFatal,
    observer,
  );
  return {
    machine,
    database,
    writer,
    checkpointer,
    reader,
    lister: new Lister(machine, reader, clock),
  };
}

/** Everything applied is in the database afterwards, which is closed. Nothing may be applied meanwhile. */
export async function closeLiveState(live: LiveState): Promise<void> {
  await live.checkpointer.stop();
  await live.writer.drained();
  live.reader.retire();
  await live.database.close();
}
