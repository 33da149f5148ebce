/** A store of one voter on a real disk, on this thread: what most tests of the store run on. */
import { systemClock } from '@orch/component';
import { FileDisk } from '@orch/raft';
import { createInThreadStore, type InThreadStoreOptions } from '../in-thread-store.js';
import type { ReplicatedStore } from '../replicated-store.js';
import { quietLogger, until } from './harness.js';

const peerUrl = 'https://127.0.0.1:6480';

/** Started, and brought up to date from its log. */
export async function openSole(
  dataDirectory: string,
  options: Partial<InThreadStoreOptions> = {},
): Promise<ReplicatedStore> {
  const { store } = createInThreadStore({
    dataDirectory,
    disk: new FileDisk(),
    clock: systemClock,
    random: Math.random,
    logger: quietLogger,
    onFatal: (error) => {
      throw error;
    },
    identity: {
      memberName: 'default',
      peerUrl,
      clientUrl: 'https://127.0.0.1:6443',
      initialMembers: [{ name: 'default', peerUrl: peerUrl }],
      initialState: 'new',
      clusterToken: 'cluster',
    },
    ...options,
  });
  await store.start();
  await until(() => store.status().ready, 'the store is ready');
  return store;
}
