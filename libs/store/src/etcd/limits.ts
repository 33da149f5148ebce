/** Named maxima of the store over external etcd, beside those of the store itself. */
import { invariant } from '@orch/component';
import { objectBytesMax } from '../limits.js';

/** One response. A list that exceeds it is read in smaller pages. Higher: more memory per list. */
export const responseBytesMax = 32 * 1024 * 1024;
/** One request. etcd itself refuses a commit above its own `--max-request-bytes`. */
export const requestBytesMax = 8 * 1024 * 1024;
/** Keys of one page of a list. Higher: larger responses. Lower: more round trips. */
export const pageKeysMax = 500;
/** Commits in flight; more are refused. */
export const commitsMax = 4_096;
/** How long to wait for a connection before the next server is tried. */
export const connectTimeoutMs = 1_000;
/** Time in which a server must finish the TLS handshake; then the connection is closed. */
export const handshakeTimeoutMs = 10_000;
/**
 * One attempt of a read on one server, if there are others. Higher: a server that hangs is left
 * later.
 */
export const readAttemptMs = 2_500;
/** Between two attempts of a request that certainly took no effect. */
export const retryDelayMs = 50;
export const startTimeoutMs = 30_000;
/** How often the newest revision is read: detects a change stream that has stopped. */
export const probeIntervalMs = 1_000;
/** If known changes do not arrive for this long, the change stream is opened on another server. */
export const streamStallMs = 3_000;
/** Between two progress requests while a reader waits. */
export const progressRequestMs = 50;
/** Between two attempts to open the change stream, doubled each time. */
export const streamRetryMinMs = 50;
export const streamRetryMaxMs = 2_000;
/** Pings on an idle connection. etcd closes connections that ping more often than every 5 s. */
export const keepaliveMs = 10_000;
export const keepaliveTimeoutMs = 5_000;
/** Unread bytes of one stream in flight. */
export const flowWindowBytes = 4 * 1024 * 1024;
/** Keys that share a lease: keys that expire together are one revision. */
export const leaseKeysMax = 500;
/** Different times to live whose leases are remembered. */
export const leasesMax = 256;
/** How far a key may outlive its time to live so that keys can share a lease: share and maximum. */
export const leaseSlackShare = 0.05;
export const leaseSlackMaxMs = 60_000;
/** Steps of the binary search for the compacted revision: one per bit of a revision. */
export const searchStepsMax = 64;

const etcdPingMinMs = 5_000;

invariant(requestBytesMax >= 2 * objectBytesMax, 'a request holds two of the largest objects');
invariant(responseBytesMax >= requestBytesMax, 'a response holds everything a request may write');
invariant(connectTimeoutMs < readAttemptMs, 'a connection is tried within one attempt of a read');
invariant(readAttemptMs < startTimeoutMs, 'several servers are tried at start');
invariant(progressRequestMs < streamStallMs, 'progress is requested before a stream has stalled');
invariant(probeIntervalMs < streamStallMs, 'a probe runs before a stream has stalled');
invariant(streamRetryMinMs <= streamRetryMaxMs, 'the delay between attempts grows');
invariant(keepaliveMs > etcdPingMinMs, 'etcd closes connections that ping too often');
invariant(leaseSlackShare < 1, 'a key outlives its time to live by a part of it');
invariant(searchStepsMax >= 53, 'the search visits every bit of a safe integer');
