/** Named maxima of the core. What an operator may tune is in `CoreOptions` instead. */

/** Counted for each entry besides its data: index, term, checksum and framing. */
export const ENTRY_OVERHEAD_BYTES = 48;
/** Readers waiting at a leader, and reads of a follower under way. Higher: more memory; lower: earlier `ask again`. */
export const WAITING_READS_MAX = 65_536;
/** Callers waiting for one transfer of leadership. */
export const TRANSFER_WAITERS_MAX = 256;
/** Evicted entries that may still take up slots of the cache before it is compacted. */
export const CACHE_SLACK_ENTRIES = 1_024;
/** Share of the election timeout that a lease lasts, so that clocks may rate apart by as much as the rest. */
export const LEASE_SHARE = 0.8;
/** A slow leader hands over only to a disk at least that many times quicker. */
export const QUICKER_DISK_FACTOR = 2;
/** Election timeouts for which a leader still tells a removed member of its removal. */
export const DEPARTURE_TIMEOUTS = 2;
/**
 * Parts of the election timeout after which a replica that has heard of nobody since its start first asks
 * for pre-votes, drawn from [1, 3) of them. Higher: sooner led after a start; lower: fewer tries for nothing.
 */
export const EARLY_ELECTION_PARTS = 5;
/** Times longer that a replica without a usable state waits before it stands for election. */
export const NEEDS_SNAPSHOT_PATIENCE = 3;
