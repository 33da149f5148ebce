/** What may go wrong on a simulated disk, and how often. Rates are shares in [0, 1]. */
export interface SimDiskFaults {
  /** Time of a write, a synced write or sync, and a read: uniform within, milliseconds. */
  writeMs: readonly [least: number, most: number];
  syncMs: readonly [least: number, most: number];
  readMs: readonly [least: number, most: number];
  /** Share of the syncs that take `slowSyncMs` instead. */
  slowSyncRate: number;
  slowSyncMs: readonly [least: number, most: number];
  /** Share of the syncs that fail: their data may survive a restart or not. */
  syncErrorRate: number;
  /** Share of the reads that fail with `EIO`. */
  readErrorRate: number;
  /** Which unsynced batches a crash of the machine takes: all from one on, or any. */
  unsyncedLoss: 'suffix' | 'subset';
  /**
   * Share of the synced writes right after the database began another write-ahead file: earlier
   * unsynced writes remain unsynced.
   */
  fileSwitchRate: number;
  /** Share of the marks that a crash of the machine takes back to an older content, or to none. */
  markLossRate: number;
  /**
   * Writes that would make the rows of all databases larger than that are refused with `ENOSPC`.
   */
  capacityBytes: number;
}

/** A disk that loses only unsynced data, when the machine stops. */
export const healthyDisk: SimDiskFaults = {
  writeMs: [0, 0],
  syncMs: [0.2, 2],
  readMs: [0, 0],
  slowSyncRate: 0,
  slowSyncMs: [10, 5_000],
  syncErrorRate: 0,
  readErrorRate: 0,
  unsyncedLoss: 'suffix',
  fileSwitchRate: 0,
  markLossRate: 0,
  capacityBytes: Number.POSITIVE_INFINITY,
};

/** As the operating system words it. */
export class DiskError extends Error {
  override readonly name = 'DiskError';
  constructor(
    readonly code: 'EIO' | 'ENOSPC',
    doing: string,
  ) {
    super(`${code}: ${code === 'EIO' ? 'i/o error' : 'no space left on device'}, ${doing}`);
  }
}

/** Number of times that each fault happened: a run without faults proves nothing. */
export interface SimDiskCounts {
  writes: number;
  syncs: number;
  slowSyncs: number;
  syncErrors: number;
  readErrors: number;
  spaceErrors: number;
  crashes: number;
  /** Batches that a crash took. */
  batchesLost: number;
  marksLost: number;
  recordsDamaged: number;
  /** Replacements of a directory that a crash fell into. */
  replacementsCut: number;
}
