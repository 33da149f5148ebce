/** Named maxima of the store. `StoreOptions` overrides some of them. */
import { invariant } from '@orch/component';
import { commandBytesMax } from '@orch/raft';

/** Bytes of one object as stored. */
export const objectBytesMax = 1.5 * 1024 * 1024;
/** Bytes of one encoded commit. */
export const commitBytesMax = commandBytesMax;
/** Operations of one commit, and deletions of one expire command. */
export const operationsMax = 1_024;
export const keyBytesMax = 1_024;
/** Latest time at which a key may expire: a record has 48 bits for it. */
export const expiresAtMaxMs = 2 ** 48 - 1;
/** 100 years: added to the present time it still fits the 48 bits of a record. */
export const timeToLiveMaxMs = 100 * 366 * 24 * 3_600_000;
/**
 * Payload bytes of live keys and history. Higher: more memory and disk. Lower: commits are refused
 * earlier.
 */
export const quotaBytes = 8 * 1024 * 1024 * 1024;
/** Commits of this replica that wait for their outcome. Higher: longer waits under overload. */
export const pendingCommitsMax = 4_096;
/** Command ids recorded per proposer; an older id is never applied. */
export const sequenceWindow = 16_384;
/**
 * Registered proposers (process lives); the one that was silent longest is evicted first and has to
 * register again. Higher: 2 KiB each in memory and snapshots. Lower: a replica that rarely writes
 * may once get an unknown outcome.
 */
export const proposersMax = 64;
/** Reads that wait for a barrier or a revision. */
export const readsWaitingMax = 16_384;
/** Recent events in memory. Higher: more memory. Lower: more resuming watches read the disk. */
export const ringEventsMax = 32_768;
export const ringBytesMax = 32 * 1024 * 1024;
/** Open watches. */
export const watchesMax = 200_000;
/** Watches that read history at a time; the others wait. */
export const catchUpsMax = 8;
/** Events that a catch-up visits in one turn of the event loop. */
export const catchUpSliceEvents = 1_000;
/** Payload bytes sent to a watch that catches up before its `whenReady` is called again. */
export const catchUpSliceBytes = 1024 * 1024;
/** Work units of a list in one turn of the event loop: an entry in memory costs 1. */
export const listSliceUnits = 10_000;
/** Work units of an entry that a list reads from disk. */
export const diskReadUnits = 40;
/** Records that one read from the state database returns. */
export const scanSliceRecords = 512;
export const scanSliceBytes = 1024 * 1024;
/** Versions that the sweeper drops in one turn of the event loop. */
export const sweepSliceVersions = 1_000;
/** Bytes of one batch written to the state database. */
export const stateBatchBytesMax = 512 * 1024;
/**
 * How long applied changes gather for one write of the state database, unless they fill a batch.
 * Higher: more entries to replay after a crash of the process. Lower: more CPU time for each
 * commit.
 */
export const stateGatherMs = 50;
/** Bytes applied but not yet written to the state database. Above it, the log is held back. */
export const stateLagBytesMax = 64 * 1024 * 1024;
/**
 * Applied entries and bytes after which the log is compacted. Higher: longer replay at start.
 * Lower: more syncs.
 */
export const logKeepEntries = 10_000;
export const logKeepBytes = 64 * 1024 * 1024;
/**
 * How long history is retained. Higher: more memory and disk. Lower: more watches must list again.
 */
export const historyRetentionMs = 5 * 60_000;
export const compactionIntervalMs = 30_000;
/** How often the leader deletes keys whose time to live has ended: how late a key may expire. */
export const expiryIntervalMs = 1_000;
/**
 * Log entries between two comparisons of the replicas' state hashes. Higher: a divergence is found
 * later. Lower: more commands in the log.
 */
export const hashIntervalEntries = 10_000;
/** If the state changes, the leader starts a comparison of hashes at least this often. */
export const hashIntervalMs = 60_000;
/** Own hashes in memory, one per entry: how old a report of another replica can be compared. */
export const retainedHashesMax = 16_384;
/** Indexes whose hash reports are in memory, the newest. */
export const hashReportsMax = 64;
/** Revision samples for `revisionBefore`: one per second of the longest retention. */
export const revisionSampleMs = 1_000;
export const revisionSamplesMax = 7_200;
/**
 * From a refusal for lack of a leader to the next attempt. Higher: a commit waits longer after a
 * change of leader. Lower: an outage costs more messages.
 */
export const reproposeDelayMs = 50;
/**
 * Without an outcome for this long, a command is proposed again. Higher: a lost proposal delays its
 * caller longer. Lower: a slow quorum receives commands twice.
 */
export const reproposeSilenceMs = 1_000;
/** How often pending commands are checked: how late a caller's deadline may fire. */
export const proposalSweepMs = 50;
/** Attempts of one command. The caller's deadline ends them long before. */
export const attemptsMax = 256;
/** Timeout of one read barrier round, whatever the deadlines of its readers. */
export const barrierTimeoutMs = 10_000;
/**
 * Commits visited to count exactly the keys after a page of an older revision. Higher: such pages
 * take longer (some 0.1 us per commit). Lower: the remaining count is an estimate more often.
 */
export const remainingCountCommitsMax = 20_000;
/** Entries that a content hash reads in one turn of the event loop. Higher: other work waits. */
export const contentHashPageEntries = 256;

const u16Max = 2 ** 16 - 1;
const u32Max = 2 ** 32 - 1;
const year2200Ms = Date.UTC(2200, 0);

invariant(sequenceWindow >= 2 * pendingCommitsMax, 'a sequence window holds two times the commits');
invariant(sequenceWindow % 32 === 0, 'a sequence window is a whole number of words');
invariant(commitBytesMax >= 2 * objectBytesMax, 'a commit holds two of the largest objects');
invariant(operationsMax <= u16Max, 'the operations of a commit are counted in 16 bits');
invariant(keyBytesMax <= u16Max, 'the bytes of a key are counted in 16 bits');
invariant(commitBytesMax <= u32Max, 'the bytes of an object are counted in 32 bits');
invariant(year2200Ms + timeToLiveMaxMs <= expiresAtMaxMs, 'an expiry time has 48 bits');
invariant(quotaBytes >= commitBytesMax, 'the quota holds one commit');
invariant(ringBytesMax >= commitBytesMax, 'the event ring holds one commit');
invariant(ringEventsMax >= operationsMax, 'the event ring holds the events of one commit');
invariant(ringEventsMax >= remainingCountCommitsMax, 'remaining keys are counted from the ring');
invariant(watchesMax > catchUpsMax, 'some watches catch up at a time');
invariant(stateLagBytesMax >= 2 * stateBatchBytesMax, 'a batch is written while another is queued');
invariant(stateLagBytesMax >= commitBytesMax, 'the state database may lag behind by one commit');
invariant(logKeepBytes >= commitBytesMax, 'the log holds one commit');
invariant(
  revisionSampleMs * revisionSamplesMax >= historyRetentionMs,
  'the revision samples cover the retention',
);
invariant(compactionIntervalMs <= historyRetentionMs, 'compaction runs once per retention');
invariant(retainedHashesMax >= hashIntervalEntries, 'the hash of the last report is in memory');
invariant(proposalSweepMs <= reproposeDelayMs, 'a sweep runs before the next attempt');
invariant(reproposeDelayMs < reproposeSilenceMs, 'a refusal is retried before a silence');
