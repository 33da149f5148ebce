import { invariant } from '@orch/component';
import { commandBytesMax } from '../core/limits.js';

/** Named maxima of the network between replicas, and its intervals. */

/** Size of one message. An append and a forwarded proposal must fit. */
export const messageBytesMax = 8 * 1024 * 1024;
/**
 * A frame is closed when it holds this much. Higher: the first message waits for more; lower: more
 * calls a byte.
 */
export const frameBytesTarget = 1024 * 1024;
/** The largest frame that gRPC accepts: a full frame and one more message of the largest size. */
export const frameBytesMax = messageBytesMax + frameBytesTarget + 64 * 1024;
/** Elements of one list within a message. */
export const repeatedMax = 65_536;
/**
 * Messages waiting for one peer. Higher: more memory and older messages for a slow peer. Lower:
 * bursts are dropped and must be repeated.
 */
export const queueBytesMax = 32 * 1024 * 1024;
export const queueMessagesMax = 8_192;
/**
 * Bytes that a receiver accepts before it has read them (HTTP/2 window). Higher: memory. Lower:
 * slow over distance.
 */
export const receiveWindowBytes = 8 * 1024 * 1024;
/** Calls that one peer may have open on one connection. */
export const callsPerConnectionMax = 16;

/** Higher: followers catch up sooner; lower: disk, network and CPU are left to others. */
export const defaultSnapshotBytesPerSecond = 64 * 1024 * 1024;
/** Time without progress after which a snapshot stream is aborted. */
export const snapshotStallMs = 30_000;
/** After the last piece: what verifying and storing may take at the receiver. */
export const snapshotFinishMs = 10 * 60_000;

/** Incoming calls without a greeting yet. More are refused: a peer needs one. */
export const ungreetedCallsMax = 64;

/** The longest deadline of an operator's request that another member forwards. */
export const operationTimeoutMaxMs = 120_000;

/** From opening a connection to the response to the greeting. */
export const greetingTimeoutMs = 2_000;
export const pingIntervalMs = 2_000;
/** Higher: a vanished peer is noticed later; lower: a busy one is taken for vanished. */
export const pingTimeoutMs = 2_000;
/**
 * The least bandwidth of a connection: a ping that waits behind a frame gets that much more time.
 */
export const linkBytesPerSecondMin = 1024 * 1024;
/**
 * Bytes of frames that a connection has not sent yet. Higher: a full connection is noticed later.
 * Lower: pauses.
 */
export const unsentBytesMax = 512 * 1024;
/**
 * HTTP/2 pings, which end connections without the pings above, such as those of snapshots. Higher:
 * a vanished peer keeps its memory for longer. Lower: more wake-ups while idle.
 */
export const keepaliveIntervalMs = 20_000;
export const keepaliveTimeoutMs = 4_000;
export const reconnectMinMs = 50;
export const reconnectMaxMs = 1_000;
/** A longer attempt is aborted when the peer connects to us. */
export const connectPatienceMs = 500;
/**
 * Poll interval of certificate files. Higher: a rotation takes effect later. Lower: more wake-ups
 * while idle.
 */
export const certificatePollMs = 5_000;
/** A certificate with less than this share of its validity left is warned about. */
export const certificateWarningFraction = 1 / 5;

invariant(queueBytesMax >= frameBytesMax, 'the queue of a peer must hold a full frame');
invariant(
  messageBytesMax >= commandBytesMax + frameBytesTarget,
  'a message must hold the largest command and what precedes it',
);
invariant(
  keepaliveIntervalMs + keepaliveTimeoutMs > pingIntervalMs + pingTimeoutMs,
  'the ping must notice a lost peer before the keepalive',
);
invariant(reconnectMinMs <= reconnectMaxMs, 'the reconnect delay has an empty range');
