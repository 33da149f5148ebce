/** The limits of this library. */

/** Length of one flag value; longer input is a mistake. */
export const flagValueBytesMax = 64 * 1024;
/** Entries of one list or key=value flag. */
export const flagListEntryCountMax = 10_000;
/** Size of a kubeconfig file. */
export const kubeconfigBytesMax = 4 * 1024 * 1024;
/** API servers in a kubeconfig, per cluster. */
export const kubeconfigEndpointCountMax = 32;
/** Shutdown steps of one process. */
export const shutdownStepCountMax = 1_000;
/**
 * First and longest pause before a component starts again in a process of several. Higher: it is
 * missing for longer. Lower: more load from a component that cannot start.
 */
export const restartPauseMinMs = 200;
export const restartPauseMaxMs = 30_000;
/** Time after which a running component resets this pause. */
export const restartHealthyMs = 30_000;
/** Health checks of one process. */
export const healthCheckCountMax = 1_000;
/** Time limit of one health check; a slower one fails. */
export const healthCheckTimeoutMs = 5_000;
/** Concurrent connections to the HTTPS server of a component. */
export const servingConnectionCountMax = 1_000;
/** Time limit for a client to send a request. */
export const servingRequestTimeoutMs = 30_000;
/** Cached reviews of the delegated authorizer, of each kind. */
export const reviewCacheEntryCountMax = 10_000;
/** Waiting tasks per key of a keyed mutex, unless its owner sets another limit. */
export const mutexWaiterCountMax = 10_000;
/** Duration of a CPU profile. */
export const profileSecondsMax = 25;
/** Log lines held while their output takes no data; further lines are dropped. */
export const heldLogBytesMax = 1024 * 1024;
/**
 * Retries of a write of the log to a full pipe, and the pause before each. Higher: a stuck reader
 * delays the process longer. Lower: lines before an exit are lost earlier.
 */
export const logRetryCount = 10;
export const logRetryMs = 50;
/** Sampling period of the event loop's delay. Lower: shorter delays are seen, at more cost. */
export const eventLoopSampleMs = 10;
/**
 * The longest sampling period, of an idle loop, and the share of time from which a loop counts as
 * busy. Higher: the first stall after an idle time is missed more often. Lower: more wake-ups of an
 * idle process.
 */
export const eventLoopSampleMsMax = 320;
export const eventLoopBusyShare = 0.05;
/** A timer that is late by no more than this is on time. */
export const timerResolutionMs = 1;
/**
 * Delay after the start until its garbage is collected, and the largest heap for which this is
 * done. Higher: more memory after the start; a longer stall. Lower: collected before the start is
 * over; large processes retain the garbage.
 */
export const startGarbageDelayMs = 15_000;
export const startHeapBytesMax = 96 * 1024 * 1024;
/** Time limit for opening a connection through a proxy. */
export const egressDialTimeoutMs = 30_000;
