import { systemClock } from '@orch/component';
import { afterAll } from 'vitest';
import { describeVersionedStore } from '../testing/contract.js';
import { quietLogger, type StoreHarness } from '../testing/harness.js';
import type { VersionedStore } from '../versioned-store.js';
import type { EtcdOptions } from './etcd-options.js';
import { openEtcdStore } from './open-etcd-store.js';
import { EtcdServers } from './testing/etcd-server.js';

// Every store has its own etcd; the next one starts while this one is in use.
let coming: Promise<EtcdServers> | undefined;

function nextServers(): Promise<EtcdServers> {
  const servers = coming ?? EtcdServers.start(1, false);
  coming = servers.then(() => EtcdServers.start(1, false));
  // The caller that takes it gets the error.
  coming.catch(() => undefined);
  return servers;
}

afterAll(async () => {
  await (await coming)?.destroy();
});

async function harnessOf(options: Partial<EtcdOptions>): Promise<StoreHarness> {
  const servers = await nextServers();
  let store: VersionedStore | undefined;
  return {
    open: async () => {
      store = await openEtcdStore(
        { endpoints: servers.endpoints, prefix: '/registry', ...options },
        {
          clock: systemClock,
          logger: quietLogger,
          random: Math.random,
          onFatal: (error) => {
            throw error;
          },
        },
      );
      return store;
    },
    destroy: async () => {
      await store?.stop();
      await servers.destroy();
    },
  };
}

describeVersionedStore('store over external etcd', () => harnessOf({}));

// So small that watches that resume read their history from etcd.
describeVersionedStore('store over external etcd, little memory', () =>
  harnessOf({ recentEventsMax: 3 }),
);
