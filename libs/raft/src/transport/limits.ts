/** Named maxima of the network between replicas, and its intervals. */

/** One message. What a leader may put into one append and a proposer into one command must fit. */
export const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
/** A frame is closed when it holds this much. Higher: the first message waits for more; lower: more calls a byte. */
export const FRAME_BYTES_TARGET = 1024 * 1024;
/** What gRPC takes as one frame: a full frame and one more message of the largest size. */
export const FRAME_BYTES_MAX = MESSAGE_BYTES_MAX + FRAME_BYTES_TARGET + 64 * 1024;
/** Elements of one list within a message. */
export const REPEATED_MAX = 65_536;
/**
 * Waiting for one peer. Higher: more memory and older messages for a slow peer; lower: bursts are
 * dropped and have to be said again.
 */
export const QUEUE_BYTES_MAX = 32 * 1024 * 1024;
export const QUEUE_MESSAGES_MAX = 8_192;
/** What a receiver lets come before it has read it (HTTP/2 window). Higher: memory; lower: slow over distance. */
export const WINDOW_BYTES = 8 * 1024 * 1024;
/** Calls that one peer may have open on one connection. */
export const CALLS_PER_CONNECTION_MAX = 16;

/** Higher: followers catch up sooner; lower: disk, network and CPU are left to others. */
export const SNAPSHOT_BYTES_PER_SECOND = 64 * 1024 * 1024;
/** No piece went out or came in for that long: the stream is given up. */
export const SNAPSHOT_STALL_MS = 30_000;
/** After the last piece: what verifying and storing may take at the receiver. */
export const SNAPSHOT_FINISH_MS = 10 * 60_000;

/** Calls that have come in and not yet greeted. More are refused: a peer needs one. */
export const UNJUDGED_CALLS_MAX = 64;

/** What another member may let this one work on an operator's request. */
export const OPERATION_TIMEOUT_MAX_MS = 120_000;

/** From opening a connection to the answered greeting. */
export const GREETING_TIMEOUT_MS = 2_000;
export const PING_INTERVAL_MS = 2_000;
/** Higher: a vanished peer is noticed later; lower: a busy one is taken for vanished. */
export const PING_TIMEOUT_MS = 2_000;
/** What a connection is trusted to carry at least: a ping that waits behind a frame is given that much more time. */
export const LINK_BYTES_PER_SECOND_MIN = 1024 * 1024;
/** Frames handed to a connection and not yet on their way. Higher: later answers to a full connection; lower: pauses. */
export const UNSENT_BYTES_MAX = 512 * 1024;
/** Pings of HTTP/2 that end connections nobody writes to: slower than the above, which notices first. */
export const KEEPALIVE_INTERVAL_MS = 2_000;
export const KEEPALIVE_TIMEOUT_MS = 4_000;
export const RECONNECT_MIN_MS = 50;
export const RECONNECT_MAX_MS = 1_000;
/** A try that has taken longer is given up when the peer shows that it is there. */
export const CONNECT_PATIENCE_MS = 500;
/** How often certificate files are looked at for a change. */
export const CERTIFICATE_POLL_MS = 1_000;
/** A certificate with less than this share of its validity left is warned about. */
export const CERTIFICATE_WARNING_SHARE = 1 / 5;

if (FRAME_BYTES_MAX > QUEUE_BYTES_MAX) throw new RangeError('the queue must hold a full frame');
