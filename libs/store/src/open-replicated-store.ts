/**
 * Opens the store of an API server: over a real disk and, if there are other members, a network.
 */
import { randomBytes } from 'node:crypto';
import type { Logger, LoopClock } from '@orch/component';
import {
  type CertificateFiles,
  createWorkerReplicatedLog,
  FileDisk,
  GrpcTransport,
  type ReplicaIdentityOptions,
  type ReplicaObserver,
  type ReplicaTuning,
  type ReplicatedLog,
  replicaWorkerFile,
  trafficObserver,
} from '@orch/raft';
import {
  createReplicaLog,
  logDirectory,
  once,
  type StoreAndLog,
  stateDirectory,
} from './in-thread-store.js';
import { createStore } from './replicated-store.js';
import type { StoreObserver } from './store-observer.js';
import type { StoreOptions } from './store-options.js';

export interface ReplicatedStoreOptions {
  /** Contains `log` and `state`; created if it is missing. */
  readonly dataDirectory: string;
  readonly identity: ReplicaIdentityOptions;
  /** Absent for a sole member. */
  readonly network?: {
    /** `https://host:port`. */
    readonly listenUrl: string;
    readonly certificates: CertificateFiles;
  };
  readonly tuning?: Partial<ReplicaTuning>;
  readonly store?: Partial<StoreOptions>;
}

export interface ReplicatedStoreDependencies {
  readonly clock: LoopClock;
  readonly logger: Logger;
  /** Must end the process. Called at most once. */
  readonly onFatal: (error: Error) => void;
  readonly observer?: StoreObserver;
  readonly logObserver?: ReplicaObserver;
}

/**
 * Opens `<dataDirectory>/log` and `<dataDirectory>/state` and joins the cluster. Resolves without
 * waiting for a quorum: `status().ready` reports availability. Rejects with StoreError
 * `BadDirectory` or `Corrupt`, or LogError `BadConfiguration`, whose message names cause and
 * remedy.
 */
export async function openReplicatedStore(
  options: ReplicatedStoreOptions,
  dependencies: ReplicatedStoreDependencies,
): Promise<StoreAndLog> {
  const { dataDirectory } = options;
  const { observer, ...rest } = { ...dependencies, onFatal: once(dependencies.onFatal) };
  const log = createLog(options, rest);
  const store = createStore({
    ...rest,
    directory: stateDirectory(dataDirectory),
    disk: new FileDisk(),
    random: secureRandom,
    log,
    ...(observer && { observer }),
    ...(options.store && { options: options.store }),
  });
  await store.start();
  return { store, log };
}

/**
 * Runs the replica on its own thread, so that neither blocks the other; on this thread if the
 * sources were not built.
 */
function createLog(
  { dataDirectory, identity, network, tuning = {} }: ReplicatedStoreOptions,
  { clock, logger, onFatal, logObserver }: ReplicatedStoreDependencies,
): ReplicatedLog {
  const directory = logDirectory(dataDirectory);
  const shared = { clock, logger, onFatal, ...(logObserver && { observer: logObserver }) };
  if (replicaWorkerFile() !== undefined) {
    const replica = { directory, identity, tuning, ...(network && { network }) };
    return createWorkerReplicatedLog(replica, shared);
  }
  const random = secureRandom;
  return createReplicaLog({
    ...shared,
    directory,
    disk: new FileDisk(),
    random,
    identity,
    tuning,
    ...(network && {
      transport: new GrpcTransport({
        ...network,
        clock,
        random,
        logger,
        ...(logObserver && { observer: trafficObserver(logObserver) }),
      }),
    }),
  });
}

/** Uniform in [0, 1). Names drawn with it must differ from those of every other process. */
function secureRandom(): number {
  return randomBytes(6).readUIntBE(0, 6) / 2 ** 48;
}
