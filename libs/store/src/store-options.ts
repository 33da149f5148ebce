/** What an operator may set, each with its default and what gets worse either way. */
import {
  COMPACTION_INTERVAL_MS,
  EXPIRY_INTERVAL_MS,
  HASH_INTERVAL_ENTRIES,
  HISTORY_RETENTION_MS,
  LOG_KEEP_BYTES,
  LOG_KEEP_ENTRIES,
  OBJECT_BYTES_MAX,
  PENDING_COMMITS_MAX,
  QUOTA_BYTES,
  REVISION_SAMPLE_MS,
  REVISION_SAMPLES_MAX,
  RING_BYTES_MAX,
  RING_EVENTS_MAX,
} from './limits.js';

export interface StoreOptions {
  /** Payload bytes of live keys and history. Higher: more memory, slower start; lower: `NoSpace` earlier. */
  readonly quotaBytes: number;
  /** One object. Higher: longer stalls by single objects; lower: `TooLarge` earlier. */
  readonly objectBytesMax: number;
  /** Commits under way at a time. Higher: longer waits under overload; lower: `Overloaded` earlier. */
  readonly pendingCommitsMax: number;
  /** History for watches and exact reads. Higher: more memory and disk; lower: more clients list again. */
  readonly historyRetentionMs: number;
  /** Higher: history is kept that much longer; lower: more commands in the log. */
  readonly compactionIntervalMs: number;
  /** Higher: keys outlive their time to live by that much; lower: more wake-ups. */
  readonly expiryIntervalMs: number;
  /** Events kept in memory. Higher: more memory; lower: resuming watches read the disk. */
  readonly ringEventsMax: number;
  readonly ringBytesMax: number;
  /** Entries and bytes between two cuts of the log. Higher: longer start; lower: more syncs. */
  readonly logKeepEntries: number;
  readonly logKeepBytes: number;
  /** Entries between comparisons of state hashes. Higher: a divergence is found later; lower: more commands in the log. */
  readonly hashIntervalEntries: number;
}

export const DEFAULT_STORE_OPTIONS: StoreOptions = {
  quotaBytes: QUOTA_BYTES,
  objectBytesMax: OBJECT_BYTES_MAX,
  pendingCommitsMax: PENDING_COMMITS_MAX,
  historyRetentionMs: HISTORY_RETENTION_MS,
  compactionIntervalMs: COMPACTION_INTERVAL_MS,
  expiryIntervalMs: EXPIRY_INTERVAL_MS,
  ringEventsMax: RING_EVENTS_MAX,
  ringBytesMax: RING_BYTES_MAX,
  logKeepEntries: LOG_KEEP_ENTRIES,
  logKeepBytes: LOG_KEEP_BYTES,
  hashIntervalEntries: HASH_INTERVAL_ENTRIES,
};

const RETENTION_MAX_MS = REVISION_SAMPLE_MS * REVISION_SAMPLES_MAX;

/** The defaults with what is given. Throws RangeError for what cannot be kept. */
export function resolveStoreOptions(given: Partial<StoreOptions> = {}): StoreOptions {
  const options = { ...DEFAULT_STORE_OPTIONS, ...given };
  for (const [name, value] of Object.entries(options)) {
    if (!(value > 0)) throw new RangeError(`store option ${name} must be above 0, not ${value}`);
  }
  if (options.objectBytesMax > OBJECT_BYTES_MAX) {
    throw new RangeError(`store option objectBytesMax is at most ${OBJECT_BYTES_MAX}`);
  }
  if (options.pendingCommitsMax > PENDING_COMMITS_MAX) {
    throw new RangeError(`store option pendingCommitsMax is at most ${PENDING_COMMITS_MAX}`);
  }
  if (options.historyRetentionMs > RETENTION_MAX_MS) {
    throw new RangeError(`store option historyRetentionMs is at most ${RETENTION_MAX_MS}`);
  }
  return options;
}
