/** Named maxima of the log. Each guards memory, the event loop or the disk; see the comments. */

/** One command. Refused at `propose`, so that whatever is in the log can always be read and sent again. */
export const COMMAND_BYTES_MAX = 4 * 1024 * 1024;
/** Proposals waiting for their turn. Higher: longer waits under overload; lower: earlier refusals. */
export const PENDING_ENTRIES_MAX = 8_192;
export const PENDING_BYTES_MAX = 64 * 1024 * 1024;
/**
 * The most that the state applies in one go. Higher: longer stalls of the event loop; lower: fewer
 * commits a second.
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

/** Members of a cluster, learners included: each costs the leader a copy of everything. */
export const MEMBERS_MAX = 32;

/** Readers waiting for a barrier. */
export const READERS_MAX = 65_536;
/** Rounds of readers under way. Higher: more messages under load; lower: a reader waits for the round before. */
export const READ_ROUNDS_MAX = 16;
/** A round without an answer for so long is taken for lost. Higher: slower reads after a loss; lower: more rounds. */
export const READ_RETRY_MS = 250;
/** Rounds asked again whose answers still count. Higher: reads over slower networks; lower: less memory. */
export const READ_ROUNDS_LATE_MAX = 64;

/** Operators' requests under way. */
export const CHANGES_PENDING_MAX = 16;

/** States being sent at a time. Higher: catching up together; lower: less load on disk and network. */
export const SNAPSHOTS_SENDING_MAX = 2;
/** Until a failed sending is tried again. */
export const SNAPSHOT_RETRY_MS = 1_000;

/** Synced writes remembered for the latency that the leader judges its disk by, and for how long. */
export const LATENCY_SAMPLES_MAX = 1_024;
export const LATENCY_WINDOW_MS = 10_000;
/** How often the core is told, and the size of the directory looked up. */
export const LATENCY_TOLD_MS = 500;
export const SIZE_LOOKUP_MS = 10_000;

/** Writes whose commit is timed at once; those above are not counted. */
export const COMMIT_SAMPLES_MAX = 1_024;
/** A removed replica answers for so long what is under way, then its process ends. */
export const REMOVED_GRACE_MS = 3_000;
/** How often a request for the leader is tried again while nobody leads. */
export const LEADER_RETRY_MS = 100;

/** Requests of one thread to the other that wait for their answers. */
export const PORT_REQUESTS_MAX = 65_536;
/** Snapshots that the replica's thread may have open on the main thread. */
export const HANDLES_MAX = 8;
/** Lines of the log that the replica's thread tells at a time; those above are dropped and counted. */
export const LOG_LINES_MAX = 1_000;
/** How often the replica's thread tells what it has logged and measured, and how many measurements at most. */
export const REPORT_EVERY_MS = 50;
export const OBSERVATIONS_MAX = 4_096;
/** How often it tells its status, if that has changed. */
export const STATUS_EVERY_MS = 100;
/** How long a stop may take before the thread is ended as it is. */
export const HOST_STOP_MS = 10_000;

/** How long a joining member asks around, and how long it waits for one round of answers. */
export const JOIN_TIMEOUT_MS = 60_000;
export const JOIN_ASK_MS = 2_000;

/**
 * Entries that are kept for a follower that answers but is behind. Higher: more disk; lower: a slow
 * follower is sent the whole state sooner.
 */
export const LOG_KEEP_ACTIVE_MAX = 200_000;

if (BATCH_BYTES_MAX < COMMAND_BYTES_MAX || PENDING_BYTES_MAX < BATCH_BYTES_MAX) {
  throw new RangeError('a batch must hold the largest command, and the queue a batch');
}
