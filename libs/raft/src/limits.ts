import { invariant } from '@orch/component';
import { commandBytesMax } from './core/limits.js';
/** Named maxima of the log. Each bounds memory, stalls of the event loop or use of the disk. */

/**
 * Proposals waiting for their turn. Higher: longer waits under overload. Lower: earlier refusals.
 */
export const pendingEntriesMax = 8_192;
export const pendingBytesMax = 64 * 1024 * 1024;
/**
 * Entries and bytes that the state applies at a time. Higher: longer stalls of the event loop.
 * Lower: fewer commits per second.
 */
export const batchEntriesMax = 128;
export const batchBytesMax = 4 * 1024 * 1024;
/** Entries and bytes read in one slice at recovery. */
export const recoverySliceEntries = 256;
export const recoverySliceBytes = 1024 * 1024;
/** Deletions of one batch when the log is compacted. */
export const truncateSliceEntries = 2_000;
/**
 * Interval at which deadlines of waiting callers are checked. Higher: they fail later. Lower: more
 * CPU.
 */
export const deadlineSweepMs = 50;

/** Members of a cluster, learners included: each costs the leader a copy of everything. */
export const membersMax = 32;

/** Readers waiting for a barrier. */
export const readersMax = 65_536;
/**
 * Read rounds in flight. Higher: more messages under load. Lower: a reader waits for the round
 * before.
 */
export const readRoundsMax = 16;
/**
 * Time after which a read round counts as lost. Higher: slower reads after a loss. Lower: more
 * rounds.
 */
export const readRetryMs = 250;
/**
 * Repeated rounds whose responses still count. Higher: reads over slower networks. Lower: less
 * memory.
 */
export const lateReadRoundsMax = 64;

/** Requests of operators in progress. */
export const changesPendingMax = 16;

/**
 * Snapshots sent concurrently. Higher: members catch up together. Lower: less load on disk and
 * network.
 */
export const snapshotsSendingMax = 2;
/** Delay before a failed snapshot is sent again. */
export const snapshotRetryMs = 1_000;

/** Synced writes that the measured disk latency covers, and for how long. */
export const latencySamplesMax = 1_024;
export const latencyWindowMs = 10_000;
/** Intervals at which the core gets the disk latency, and the directory is measured. */
export const latencyReportMs = 500;
export const sizeLookupMs = 10_000;

/** Writes whose commit is timed concurrently; further ones are not measured. */
export const commitSamplesMax = 1_024;
/** How long a removed replica finishes its pending work before its process ends. */
export const removedGraceMs = 3_000;
/** Interval at which a request is retried while there is no leader. */
export const leaderRetryMs = 100;

/** Pending requests between the threads. */
export const portRequestsMax = 65_536;
/** Snapshots that the replica's thread may have open on the main thread. */
export const handlesMax = 8;
/** Log lines that the replica's thread sends at a time; further ones are dropped and counted. */
export const logLinesMax = 1_000;
/**
 * How long log lines of the replica's thread wait. Higher: later lines. Lower: more messages.
 */
export const logDelayMs = 50;
/**
 * Interval at which the replica's thread sends measurements, and how many it sends earlier. Higher:
 * later metrics. Lower: more wake-ups of both threads while idle.
 */
export const reportIntervalMs = 1_000;
export const observationsMax = 1_024;
/**
 * Interval at which it sends its status if that has changed, doubled up to the maximum until the
 * leadership or the members change. Higher: a later status. Lower: more wake-ups while idle.
 */
export const statusIntervalMs = 100;
export const statusIntervalMaxMs = 800;
/** How long a stop may take before the thread is terminated. */
export const hostStopTimeoutMs = 10_000;

/** How long a joining member tries, and how long it waits in one round of requests. */
export const joinTimeoutMs = 60_000;
export const joinRoundTimeoutMs = 2_000;

/**
 * Entries retained for an active follower that is behind. Higher: more disk. Lower: a slow follower
 * gets a snapshot sooner.
 */
export const activeFollowerLagMax = 200_000;

invariant(batchBytesMax >= commandBytesMax, 'a batch must hold the largest command');
invariant(pendingBytesMax >= batchBytesMax, 'the queue of proposals must hold a batch');
invariant(snapshotRetryMs > readRetryMs, 'reads are retried sooner than snapshots');
invariant(joinTimeoutMs > joinRoundTimeoutMs, 'joining must last for more than one round');
invariant(lateReadRoundsMax >= readRoundsMax, 'every read round in flight may be late');
