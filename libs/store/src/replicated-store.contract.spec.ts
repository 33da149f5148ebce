import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orch/component';
import { MemoryDisk, MemoryLog } from '@orch/raft';
import { openLocalStore } from './local-store.js';
import { createStore, type ReplicatedStore } from './replicated-store.js';
import type { StoreOptions } from './store-options.js';
import { describeVersionedStore } from './testing/contract.js';
import { quietLogger, type StoreHarness } from './testing/harness.js';

const dependencies = {
  clock: systemClock,
  logger: quietLogger,
  onFatal: (error: Error) => {
    throw error;
  },
};

async function harnessOf(
  open: (directory: string) => Promise<ReplicatedStore>,
): Promise<StoreHarness> {
  const directory = await mkdtemp(join(tmpdir(), 'store-contract-'));
  let store: ReplicatedStore | undefined;
  return {
    open: async () => {
      store = await open(directory);
      return store;
    },
    destroy: async () => {
      await store?.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const quick = { expiryIntervalMs: 20 } satisfies Partial<StoreOptions>;
// So small that history, resuming watches and the cutting of the log all go through the disk.
const tight = { ...quick, ringEventsMax: 3, logKeepEntries: 5 } satisfies Partial<StoreOptions>;

describeVersionedStore('replicated store over the local log', () =>
  harnessOf((directory) => openLocalStore(directory, { ...dependencies, options: quick })),
);

describeVersionedStore('replicated store over the local log, little memory', () =>
  harnessOf((directory) => openLocalStore(directory, { ...dependencies, options: tight })),
);

describeVersionedStore('replicated store over a log in memory', () => {
  const disk = new MemoryDisk();
  return harnessOf(async (directory) => {
    const log = new MemoryLog(disk);
    const store = createStore({ ...dependencies, directory, log, options: tight });
    await store.start();
    return store;
  });
});
