/** A replicated store over a log in memory, with its files in a temporary directory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoopClock, systemClock } from '@orch/component';
import { FileDisk, MemoryDisk, MemoryReplicatedLog } from '@orch/raft';
import { createStore, type ReplicatedStore } from '../replicated-store.js';
import type { StoreOptions } from '../store-options.js';
import { quietLogger, until } from './harness.js';

export class ReplicatedStoreSetup {
  directory = '';
  log!: MemoryReplicatedLog;
  store!: ReplicatedStore;
  clock: LoopClock = systemClock;
  fileDisk = new FileDisk();
  private readonly directories: string[] = [];

  static async create(): Promise<ReplicatedStoreSetup> {
    const setup = new ReplicatedStoreSetup();
    await setup.newDirectory();
    return setup;
  }

  /** Starts a store over the log on `memoryDisk`. Resolves when it is ready. */
  async open(options: Partial<StoreOptions> = {}, memoryDisk = new MemoryDisk()): Promise<void> {
    this.log = new MemoryReplicatedLog(memoryDisk);
    this.store = this.createStore(options);
    await this.store.start();
    await until(() => this.store.status().ready, 'the store is ready');
  }

  /** Creates a store over the log; it is not started. */
  createStore(options: Partial<StoreOptions> = {}): ReplicatedStore {
    return createStore({
      directory: join(this.directory, 'state'),
      disk: this.fileDisk,
      log: this.log,
      clock: this.clock,
      random: Math.random,
      logger: quietLogger,
      onFatal: (error) => {
        throw error;
      },
      options,
    });
  }

  /** Creates an empty directory for the next store. */
  async newDirectory(): Promise<void> {
    this.directory = await mkdtemp(join(tmpdir(), 'store-'));
    this.directories.push(this.directory);
  }

  async destroy(): Promise<void> {
    await this.store.stop();
    for (const directory of this.directories) await rm(directory, { recursive: true, force: true });
  }
}
