/** What the tools for data directories work with; the real things when left out. */
import { randomBytes } from 'node:crypto';
import { type LoopClock, systemClock } from '@orch/component';
import { DatabaseLogStore, type Disk, FileDisk, type LogStore } from '@orch/raft';
import { logDirectory } from '../in-thread-store.js';

export interface BackupTools {
  readonly disk: Disk;
  readonly clock: LoopClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export const REAL_TOOLS: BackupTools = {
  disk: new FileDisk(),
  clock: systemClock,
  random: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
};

/** Entries are not kept: a tool reads each once. */
const CACHE_ENTRIES = 1;
const CACHE_BYTES = 1;

export function logStoreOf(
  { disk, clock }: BackupTools,
  dataDirectory: string,
  directory = logDirectory(dataDirectory),
): LogStore {
  return new DatabaseLogStore({
    disk,
    directory,
    clock,
    cacheEntriesMax: CACHE_ENTRIES,
    cacheBytesMax: CACHE_BYTES,
  });
}
