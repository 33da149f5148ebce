/** Named maxima of the log. Each guards memory, the event loop or the disk; see the comments. */

/** One command. Refused at `propose`, so that whatever is in the log can always be read again. */
export const COMMAND_BYTES_MAX = 4 * 1024 * 1024;
/** Proposals waiting for the disk. Higher: longer waits under overload; lower: earlier refusals. */
export const PENDING_ENTRIES_MAX = 8_192;
export const PENDING_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Entries of one synced write: also the most that the store applies in one go. Higher: longer stalls
 * of the event loop; lower: fewer commits a second.
 */
export const BATCH_ENTRIES_MAX = 128;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Entries and bytes read in one slice at recovery. */
export const RECOVERY_SLICE_ENTRIES = 256;
export const RECOVERY_SLICE_BYTES = 1024 * 1024;
/** Deletions of one batch when the log is cut. */
export const TRUNCATE_SLICE_ENTRIES = 2_000;
/** How often waiting callers are looked at for a passed deadline, and so how late they may be told. */
export const DEADLINE_SWEEP_MS = 50;

if (BATCH_BYTES_MAX < COMMAND_BYTES_MAX || PENDING_BYTES_MAX < BATCH_BYTES_MAX) {
  throw new RangeError('a batch must hold the largest command, and the queue a batch');
}
