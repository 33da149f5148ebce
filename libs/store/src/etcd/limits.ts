/** Named maxima of the store over external etcd, beside those of the store itself. */

/** One answer. Lists that exceed it are asked for in smaller pages. Higher: more memory at once. */
export const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** One request. A commit over what etcd itself takes (`--max-request-bytes`) is refused there. */
export const REQUEST_BYTES_MAX = 8 * 1024 * 1024;
/** Keys of one page of a list. Higher: larger answers; lower: more round trips. */
export const PAGE_KEYS = 500;
/** Commits under way at a time; more are refused. */
export const COMMITS_MAX = 4_096;
/** How long to wait for a connection before the next server is tried. */
export const CONNECT_TIMEOUT_MS = 1_000;
/** One try of a read on one server, if there are others. Higher: a stuck server is left later. */
export const READ_TRY_MS = 2_500;
/** Between two tries of what certainly did not happen. */
export const RETRY_DELAY_MS = 50;
export const START_TIMEOUT_MS = 30_000;
/** How often the newest revision is asked for: what tells that the stream of changes has stopped. */
export const PROBE_INTERVAL_MS = 1_000;
/** Changes known to exist and not seen for that long: the stream is opened again on another server. */
export const STREAM_STALL_MS = 3_000;
/** Between two requests for progress while somebody waits for it. */
export const PROGRESS_REQUEST_MS = 50;
/** Between two tries to open the stream of changes, doubled each time. */
export const STREAM_RETRY_MIN_MS = 50;
export const STREAM_RETRY_MAX_MS = 2_000;
/** Pings on an idle connection. etcd ends connections that ping more often than every 5 s. */
export const KEEPALIVE_MS = 10_000;
export const KEEPALIVE_TIMEOUT_MS = 5_000;
/** Bytes under way of one stream before the reader must have taken some. */
export const FLOW_WINDOW_BYTES = 4 * 1024 * 1024;
/** Keys that share a lease: what ends together is one revision. */
export const LEASE_KEYS_MAX = 500;
/** Different times to live whose leases are remembered. */
export const LEASES_MAX = 256;
/** By how much a key may outlive its time to live so that leases can be shared: share and most. */
export const LEASE_SLACK_SHARE = 0.05;
export const LEASE_SLACK_MAX_MS = 60_000;
/** Steps of the search for the compacted revision: one for each bit of a revision. */
export const SEARCH_STEPS_MAX = 64;
