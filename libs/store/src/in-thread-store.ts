/**
 * A store with its replica on the same thread: for unit tests and the simulation, which give it their own
 * disk, network, clock and randomness.
 */
import { join } from 'node:path';
import {
  DatabaseLogStore,
  DEFAULT_REPLICA_TUNING,
  type Disk,
  type LogObserver,
  type ReplicaIdentityOptions,
  ReplicaLog,
  type ReplicaLogOptions,
  type ReplicaTuning,
  type ReplicatedLog,
  type Transport,
} from '@orch/raft';
import { createStore, type ReplicatedStore, type StoreDependencies } from './replicated-store.js';

export interface InThreadStoreOptions
  extends Omit<StoreDependencies, 'directory' | 'log' | 'disk'> {
  /** Holds `log` and `state`; created when absent. */
  readonly dataDirectory: string;
  readonly disk: Disk;
  readonly identity: ReplicaIdentityOptions;
  readonly tuning?: Partial<ReplicaTuning>;
  /** Absent for a sole member. */
  readonly transport?: Transport;
  readonly logObserver?: LogObserver;
}

export interface StoreAndLog {
  readonly store: ReplicatedStore;
  readonly log: ReplicatedLog;
}

/** Not started. `onFatal` is called at most once, whichever of the two cannot go on. */
export function createInThreadStore(options: InThreadStoreOptions): StoreAndLog {
  const { dataDirectory, identity, tuning, transport, logObserver, ...rest } = options;
  const { clock, random, logger, disk } = rest;
  const onFatal = once(options.onFatal);
  const log = createReplicaLog({
    directory: logDirectory(dataDirectory),
    disk,
    clock,
    random,
    logger,
    onFatal,
    identity,
    ...(tuning && { tuning }),
    ...(transport && { transport }),
    ...(logObserver && { observer: logObserver }),
  });
  const store = createStore({ ...rest, onFatal, log, directory: stateDirectory(dataDirectory) });
  return { store, log };
}

/** A replica on this thread, its log in `directory` of `disk`. */
export function createReplicaLog({
  directory,
  disk,
  ...options
}: Omit<ReplicaLogOptions, 'openStore'> & {
  readonly directory: string;
  readonly disk: Disk;
}): ReplicatedLog {
  const { clock, tuning } = options;
  const { cacheEntriesMax, cacheBytesMax } = { ...DEFAULT_REPLICA_TUNING, ...tuning };
  return new ReplicaLog({
    ...options,
    openStore: () =>
      new DatabaseLogStore({ disk, directory, clock, cacheEntriesMax, cacheBytesMax }),
  });
}

export function logDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'log');
}

export function stateDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'state');
}

export function once(onFatal: (error: Error) => void): (error: Error) => void {
  let called = false;
  return (error) => {
    if (called) return;
    called = true;
    onFatal(error);
  };
}
