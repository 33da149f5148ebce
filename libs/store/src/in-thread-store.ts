/**
 * A store with its replica on the same thread: for unit tests and the simulation, which give it
 * their own disk, network, clock and randomness.
 */
import { join } from 'node:path';
import {
  type Disk,
  defaultReplicaTuning,
  InThreadReplicatedLog,
  type InThreadReplicatedLogDependencies,
  type LogObserver,
  LogStore,
  type ReplicaIdentityOptions,
  type ReplicaTuning,
  type ReplicatedLog,
  type Transport,
} from '@orch/raft';
import { createStore, type ReplicatedStore } from './replicated-store.js';
import type { StoreDependencies } from './store-dependencies.js';

export interface InThreadStoreOptions
  extends Omit<StoreDependencies, 'directory' | 'log' | 'disk'> {
  /** Contains `log` and `state`; created if it is missing. */
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

/** Returns a store that is not started. `onFatal` is called at most once, by either of the two. */
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

/** Returns a replica on this thread with its log in `directory` of `disk`. */
export function createReplicaLog({
  directory,
  disk,
  ...options
}: Omit<InThreadReplicatedLogDependencies, 'openStore'> & {
  readonly directory: string;
  readonly disk: Disk;
}): ReplicatedLog {
  const { clock, tuning } = options;
  const { cacheEntriesMax, cacheBytesMax } = { ...defaultReplicaTuning, ...tuning };
  return new InThreadReplicatedLog({
    ...options,
    openStore: () => new LogStore({ disk, directory, clock, cacheEntriesMax, cacheBytesMax }),
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
