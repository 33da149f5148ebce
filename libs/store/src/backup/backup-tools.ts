/** Dependencies of the tools for data directories, with the real ones as the default. */
import { randomBytes } from 'node:crypto';
import { type LoopClock, systemClock } from '@orch/component';
import { type Disk, FileDisk, LogStore } from '@orch/raft';
import { logDirectory } from '../in-thread-store.js';

export interface BackupTools {
  readonly disk: Disk;
  readonly clock: LoopClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export const realTools: BackupTools = {
  disk: new FileDisk(),
  clock: systemClock,
  random: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
};

/** Entries are not cached: a tool reads each once. */
const cacheEntries = 1;
const cacheBytes = 1;

export function logStoreOf(
  { disk, clock }: BackupTools,
  dataDirectory: string,
  directory = logDirectory(dataDirectory),
): LogStore {
  return new LogStore({
    disk,
    directory,
    clock,
    cacheEntriesMax: cacheEntries,
    cacheBytesMax: cacheBytes,
  });
}
