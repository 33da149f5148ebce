/** The store of a cluster with one replica: its own log and its own state under one data directory. */
import { join } from 'node:path';
import type { Clock, Logger } from '@orch/component';
import { LocalLog, type LogObserver } from '@orch/raft';
import { createStore, type ReplicatedStore } from './replicated-store.js';
import type { StoreObserver } from './store-observer.js';
import type { StoreOptions } from './store-options.js';

export interface LocalStoreDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Must end the process. Called at most once. */
  readonly onFatal: (error: Error) => void;
  readonly options?: Partial<StoreOptions>;
  readonly observer?: StoreObserver;
  readonly logObserver?: LogObserver;
}

/**
 * Opens `<dataDirectory>/log` and `<dataDirectory>/state`, creating them when absent, and recovers.
 * Rejects with StoreError `BadDirectory` or `Corrupt`, whose message names cause and cure.
 */
export async function openLocalStore(
  dataDirectory: string,
  dependencies: LocalStoreDependencies,
): Promise<ReplicatedStore> {
  const { clock, logger, options, observer, logObserver } = dependencies;
  let ended = false;
  const onFatal = (error: Error) => {
    if (ended) return;
    ended = true;
    dependencies.onFatal(error);
  };
  const log = new LocalLog({
    directory: join(dataDirectory, 'log'),
    clock,
    logger,
    onFatal,
    ...(logObserver && { observer: logObserver }),
  });
  const store = createStore({
    directory: join(dataDirectory, 'state'),
    log,
    clock,
    logger,
    onFatal,
    ...(options && { options }),
    ...(observer && { observer }),
  });
  await store.start();
  return store;
}
