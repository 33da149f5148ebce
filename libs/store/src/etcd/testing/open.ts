/** A store over the etcd of a test, and the way past it. */
import { systemClock } from '@orch/component';
import { quietLogger } from '../../testing/harness.js';
import { EtcdCluster } from '../client/etcd-cluster.js';
import { type EtcdOptions, resolveEtcdOptions } from '../etcd-options.js';
import { EtcdStore } from '../etcd-store.js';
import type { EtcdServers } from './etcd-server.js';

function optionsFor(servers: EtcdServers, options: Partial<EtcdOptions>) {
  const { endpoints, tls } = servers;
  return resolveEtcdOptions({ endpoints, prefix: '/registry', ...(tls && { tls }), ...options });
}

export interface OpenedStore {
  readonly store: EtcdStore;
  /** What would have ended the process. */
  readonly fatal: Error[];
}

/** Opened, unless `start` rejects; then it is stopped. */
export async function openStore(
  servers: EtcdServers,
  options: Partial<EtcdOptions> = {},
): Promise<OpenedStore> {
  const fatal: Error[] = [];
  const store = new EtcdStore(optionsFor(servers, options), {
    clock: systemClock,
    logger: quietLogger,
    random: Math.random,
    onFatal: (error) => fatal.push(error),
  });
  try {
    await store.start();
  } catch (error) {
    await store.stop();
    throw error;
  }
  return { store, fatal };
}

/** Calls on etcd itself. */
export function rawCluster(servers: EtcdServers): EtcdCluster {
  return new EtcdCluster(optionsFor(servers, {}), systemClock, quietLogger);
}
