/** Named maxima of the store. Options override those that an operator may want to change. */
import { COMMAND_BYTES_MAX } from '@orch/raft';

/** One object as stored. */
export const OBJECT_BYTES_MAX = 1.5 * 1024 * 1024;
/** One commit on the wire to the log. */
export const COMMIT_BYTES_MAX = COMMAND_BYTES_MAX;
/** Operations of one commit, and deletions of one Expire. */
export const OPERATIONS_MAX = 1_024;
export const KEY_BYTES_MAX = 1_024;
/** 100 years: with the present it still fits the 48 bits of a record. */
export const TIME_TO_LIVE_MAX_MS = 100 * 366 * 24 * 3_600_000;
/** Payload bytes of live keys and kept history. Higher: more memory and disk; lower: earlier refusals. */
export const QUOTA_BYTES = 8 * 1024 * 1024 * 1024;
/** Commits of this replica that wait for their outcome. Higher: longer waits under overload. */
export const PENDING_COMMITS_MAX = 4_096;
/** Command ids remembered of one proposer; ids further back than that are never applied. */
export const SEQUENCE_WINDOW = 16_384;
/** Proposers (process lives) remembered; the one that was silent longest is forgotten first, and has to
 *  register anew. Raised, each costs 2 KiB in memory and snapshots; lowered, a replica that writes
 *  seldom may be told once that an outcome is unknown. */
export const PROPOSERS_MAX = 64;
/** Reads that wait for a barrier or a revision. */
export const READS_WAITING_MAX = 16_384;
/** Recent events kept in memory. Higher: more memory; lower: resuming watches read the disk. */
export const RING_EVENTS_MAX = 32_768;
export const RING_BYTES_MAX = 32 * 1024 * 1024;
/** Watches open at a time. */
export const WATCHES_MAX = 200_000;
/** Watches that read history at a time; the others wait their turn. */
export const CATCH_UPS_MAX = 8;
/** Events looked at in one turn of the loop while a watch catches up. */
export const CATCH_UP_SLICE_EVENTS = 1_000;
/** Payload bytes handed to a watch that catches up before it is asked whether it takes more. */
export const CATCH_UP_SLICE_BYTES = 1024 * 1024;
/** Work units of a list in one turn of the loop: an entry in memory costs 1, one on disk more. */
export const LIST_SLICE_UNITS = 10_000;
export const DISK_READ_UNITS = 40;
/** Records read, written or dropped in one go. */
export const SCAN_SLICE_RECORDS = 512;
export const SCAN_SLICE_BYTES = 1024 * 1024;
export const SWEEP_SLICE_VERSIONS = 1_000;
export const STATE_BATCH_BYTES_MAX = 512 * 1024;
/** Applied but not yet handed to the state database. Over it the log is held back. */
export const STATE_LAG_BYTES_MAX = 64 * 1024 * 1024;
/** Applied entries and bytes after which the log is cut. Higher: longer replay at start; lower: more syncs. */
export const LOG_KEEP_ENTRIES = 10_000;
export const LOG_KEEP_BYTES = 64 * 1024 * 1024;
/** How long history is kept. Higher: more memory and disk; lower: more watches must list again. */
export const HISTORY_RETENTION_MS = 5 * 60_000;
export const COMPACTION_INTERVAL_MS = 30_000;
/** How often the leader looks for keys whose time to live has passed, and so how late they may go. */
export const EXPIRY_INTERVAL_MS = 1_000;
/** Log entries between two comparisons of the replicas' state hashes. Raised, a divergence is found later;
 *  lowered, more commands in the log. */
export const HASH_INTERVAL_ENTRIES = 10_000;
/** With any change, the leader has the hashes compared at least that often. */
export const HASH_INTERVAL_MS = 60_000;
/** Own hashes kept, one an entry: how far behind a report of another replica can still be compared. */
export const HASHES_KEPT = 16_384;
/** Indexes whose reports are kept, the newest. */
export const HASH_REPORTS_MAX = 64;
/** Revision samples for `revisionBefore`: one each second of the retention, and some. */
export const REVISION_SAMPLE_MS = 1_000;
export const REVISION_SAMPLES_MAX = 7_200;
/** Between a refusal for want of a leader and the next try. Raised, a commit waits longer after a change
 *  of leadership that nobody told of; lowered, an outage costs more messages. */
export const REPROPOSE_DELAY_MS = 50;
/** After that long without outcome a command is proposed again. Raised, a lost proposal costs its caller
 *  more; lowered, a slow quorum gets its commands twice. */
export const REPROPOSE_SILENCE_MS = 1_000;
/** How often commands under way are looked at: how late a caller may learn that its time is up. */
export const PROPOSAL_SWEEP_MS = 50;
/** Tries of one command. A caller's deadline ends them long before. */
export const ATTEMPTS_MAX = 256;
/** One read barrier round, whatever its readers' own deadlines are. */
export const BARRIER_TIMEOUT_MS = 10_000;

if (SEQUENCE_WINDOW < 2 * PENDING_COMMITS_MAX) {
  throw new RangeError('the window of command ids must hold every pending commit, twice');
}
if (OBJECT_BYTES_MAX * 2 > COMMIT_BYTES_MAX) {
  throw new RangeError('a commit must hold two objects of the largest size');
}

/** Commits looked through to count exactly what follows a page of an older revision; raised, such pages
 *  take longer (some 0.1 us a commit), lowered, their count of what remains is more often an estimate. */
export const REMAINING_COUNT_COMMITS_MAX = 20_000;
/** Entries hashed in one turn of the loop by a check of the content. Raised, others wait longer. */
export const CONTENT_HASH_PAGE_ENTRIES = 256;
