/** Settings of the store for an operator, with their defaults. */
import {
  compactionIntervalMs,
  expiryIntervalMs,
  hashIntervalEntries,
  historyRetentionMs,
  logKeepBytes,
  logKeepEntries,
  objectBytesMax,
  pendingCommitsMax,
  quotaBytes,
  revisionSampleMs,
  revisionSamplesMax,
  ringBytesMax,
  ringEventsMax,
} from './limits.js';

export interface StoreOptions {
  /**
   * Payload bytes of live keys and history. Higher: more memory, slower start. Lower: `NoSpace`
   * earlier.
   */
  readonly quotaBytes: number;
  /** Bytes of one object. Higher: single objects delay others longer. Lower: `TooLarge` earlier. */
  readonly objectBytesMax: number;
  /** Commits in flight. Higher: longer waits under overload. Lower: `Overloaded` earlier. */
  readonly pendingCommitsMax: number;
  /**
   * How long history is retained for watches and exact reads. Higher: more memory and disk. Lower:
   * more clients list again.
   */
  readonly historyRetentionMs: number;
  /**
   * Time between compactions. Higher: history is retained longer. Lower: more commands in the log.
   */
  readonly compactionIntervalMs: number;
  /**
   * Time between expiry checks. Higher: keys outlive their time to live longer. Lower: more
   * wake-ups.
   */
  readonly expiryIntervalMs: number;
  /** Recent events in memory. Higher: more memory. Lower: more resuming watches read the disk. */
  readonly ringEventsMax: number;
  readonly ringBytesMax: number;
  /** Entries and bytes between compactions of the log. Higher: longer start. Lower: more syncs. */
  readonly logKeepEntries: number;
  readonly logKeepBytes: number;
  /**
   * Entries between comparisons of state hashes. Higher: a divergence is found later. Lower: more
   * commands in the log.
   */
  readonly hashIntervalEntries: number;
}

export const defaultStoreOptions: StoreOptions = {
  quotaBytes,
  objectBytesMax,
  pendingCommitsMax,
  historyRetentionMs,
  compactionIntervalMs,
  expiryIntervalMs,
  ringEventsMax,
  ringBytesMax,
  logKeepEntries,
  logKeepBytes,
  hashIntervalEntries,
};

const retentionMaxMs = revisionSampleMs * revisionSamplesMax;

/** Returns the options with defaults. Throws RangeError for invalid options. */
export function resolveStoreOptions(given: Partial<StoreOptions> = {}): StoreOptions {
  const options = { ...defaultStoreOptions, ...given };
  for (const [name, value] of Object.entries(options)) {
    if (!(value > 0)) throw new RangeError(`store option ${name} must be above 0, not ${value}`);
  }
  if (options.objectBytesMax > objectBytesMax) {
    throw new RangeError(`store option objectBytesMax is at most ${objectBytesMax}`);
  }
  if (options.pendingCommitsMax > pendingCommitsMax) {
    throw new RangeError(`store option pendingCommitsMax is at most ${pendingCommitsMax}`);
  }
  if (options.historyRetentionMs > retentionMaxMs) {
    throw new RangeError(`store option historyRetentionMs is at most ${retentionMaxMs}`);
  }
  return options;
}
