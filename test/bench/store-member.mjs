/**
 * A process with a store and its load: an embedded replica, as in an API server, or the etcd
 * backend. Settings: `replica` (options of `openReplicatedStore`) or `etcd` (options of
 * `openEtcdStore`).
 */
import { readFile } from 'node:fs/promises';
import { systemClock } from '../../dist/libs/component/src/index.js';
import { openEtcdStore, openReplicatedStore } from '../../dist/libs/store/src/index.js';
import { serve } from './child.mjs';
import { storeCommands } from './store-load.mjs';

export const quiet = {
  debug() {},
  info() {},
  warn: process.env.ORCH_BENCH_VERBOSE ? console.warn : () => undefined,
  error: console.error,
  fatal: console.error,
  child: () => quiet,
};

const dependencies = {
  clock: systemClock,
  logger: quiet,
  random: Math.random,
  onFatal(error) {
    console.error(error);
    process.exit(70);
  },
};

serve(async ({ replica, etcd }) => (etcd ? overEtcd(etcd) : withReplica(replica)));

async function withReplica(options) {
  const { store, log } = await openReplicatedStore(options, dependencies);
  return {
    commands: {
      ...storeCommands(store),

      /** Returns the leader and the progress of this replica. */
      replica() {
        const { self, role, leader, commitIndex, appliedIndex } = log.status();
        return { id: self.id, role, leader, commitIndex, appliedIndex, ...store.status() };
      },

      async addLearner({ member }) {
        const change = { kind: 'addLearner', member };
        await log.changeMembership(change, systemClock.monotonicMs() + 30_000);
      },
    },
    end: () => store.stop(),
  };
}

async function overEtcd({ endpoints, authorityFile, certificateFile, keyFile }) {
  const [authorityPem, certificatePem, keyPem] = await Promise.all(
    [authorityFile, certificateFile, keyFile].map((file) => readFile(file)),
  );
  const tls = { authorityPem, certificatePem, keyPem };
  const store = await openEtcdStore({ endpoints, prefix: '/registry', tls }, dependencies);
  return { commands: storeCommands(store), end: () => store.stop() };
}
