import { invariant } from './invariant.js';

/** Named maxima of the core. What an operator may tune is in `CoreOptions` instead. */

/**
 * Size of one command. Larger ones are refused at `propose`, so that every entry of the log can be
 * read and sent again.
 */
export const commandBytesMax = 4 * 1024 * 1024;
/** Largest index and term: the state machine writes an index in 48 bits. */
export const positionMax = 2 ** 48 - 1;
/** Counted for each entry besides its data: index, term, checksum and framing. */
export const entryOverheadBytes = 48;
/**
 * Readers that wait at a leader, and reads of a follower in flight. Higher: more memory. Lower:
 * reads fail earlier and are retried.
 */
export const waitingReadsMax = 65_536;
/** Callers that wait for one leadership transfer. */
export const transferWaitersMax = 256;
/** Evicted entries that may still take up slots of the cache before it is compacted. */
export const cacheSlackEntries = 1_024;
/**
 * Part of the election timeout that a lease lasts. The rest allows for clocks that run at different
 * rates.
 */
export const leaseFraction = 0.8;
/**
 * A slow leader transfers the leadership only to a disk that is at least this many times faster.
 */
export const fasterDiskFactor = 2;
/**
 * Election timeouts for which a leader still replicates to a removed member, so that it learns of
 * its removal.
 */
export const removalNoticeTimeouts = 2;
/**
 * Divisor of the election timeout. A replica that has received no message since its start begins
 * its first pre-vote after one or two of these parts. Higher: a leader sooner after a start. Lower:
 * fewer attempts that fail.
 */
export const earlyElectionDivisor = 5;
/** Factor on the election timeout of a replica without a usable state. */
export const needsSnapshotElectionFactor = 3;

invariant(leaseFraction > 0 && leaseFraction < 1, 'a lease must end before the election timeout');
invariant(fasterDiskFactor > 1, 'a transfer to a disk that is not faster gains nothing');
invariant(earlyElectionDivisor >= 3, 'an early election must come before the election timeout');
invariant(
  entryOverheadBytes < commandBytesMax && cacheSlackEntries > 0,
  'the bounds of the entry cache are too small',
);
