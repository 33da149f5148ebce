import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orch/component';
import { FileDisk, MemoryDisk, MemoryReplicatedLog } from '@orch/raft';
import { expect } from 'vitest';
import { createStore, type ReplicatedStore } from './replicated-store.js';
import type { StoreOptions } from './store-options.js';
import { describeVersionedStore } from './testing/contract.js';
import { quietLogger, type StoreHarness } from './testing/harness.js';
import { openSole } from './testing/sole-store.js';
import { ThreeStores } from './testing/three-stores.js';

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
// So small that history, resuming watches and log compaction all use the disk.
const tight = { ...quick, ringEventsMax: 3, logKeepEntries: 5 } satisfies Partial<StoreOptions>;

describeVersionedStore('replicated store of one voter', () =>
  harnessOf((directory) => openSole(directory, { options: quick })),
);

describeVersionedStore('replicated store of one voter, little memory', () =>
  harnessOf((directory) => openSole(directory, { options: tight })),
);

describeVersionedStore('replicated store, a follower of three', openFollower, 3);

async function openFollower(): Promise<StoreHarness> {
  const directory = await mkdtemp(join(tmpdir(), 'store-contract-'));
  const three = new ThreeStores(directory, tight);
  let opened: string | undefined;
  return {
    open: async () => {
      if (opened !== undefined) await three.stop(opened);
      await three.start();
      opened = await three.follower();
      return three.of(opened).store;
    },
    destroy: async () => {
      await three.stopAll();
      expect(three.fatal).toEqual([]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

describeVersionedStore('replicated store over a log in memory', () => {
  const disk = new MemoryDisk();
  return harnessOf(async (directory) => {
    const log = new MemoryReplicatedLog(disk);
    const store = createStore({
      ...dependencies,
      directory,
      log,
      disk: new FileDisk(),
      random: Math.random,
      options: tight,
    });
    await store.start();
    return store;
  });
});
