/**
 * The state in use, in memory and on disk. An installed snapshot replaces it as a whole, between
 * two slices of the log, so that a reader that does not await sees one consistent state.
 */
import type { LoopClock } from '@orch/component';
import type { StateMachine } from '../core/state-machine.js';
import { Checkpointer, type CheckpointerDependencies } from './checkpointer.js';
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

export interface LiveStateDependencies extends CheckpointerDependencies {
  readonly clock: LoopClock;
}

/** `machine` must be in the state that `database` stores. */
export function liveState(
  machine: StateMachine,
  database: StateDatabase,
  dependencies: LiveStateDependencies,
): LiveState {
  const { clock, observer, onFatal } = dependencies;
  const reader = new VersionReader(machine, database);
  const checkpointer = new Checkpointer(machine, database, dependencies);
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

/** Writes every applied change and closes the database. Nothing may be applied meanwhile. */
export async function closeLiveState(live: LiveState): Promise<void> {
  await live.checkpointer.stop();
  await live.writer.drained();
  live.reader.retire();
  await live.database.close();
}
