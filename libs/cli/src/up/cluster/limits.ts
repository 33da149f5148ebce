/** Every maximum of `up` and `down`, by name. */

/** Time for one component to become ready, before `up` fails with the reason. */
export const readyTimeoutMs = 60_000;
/** Time for the default service account to be created, before `up` continues without it. */
export const serviceAccountTimeoutMs = 30_000;
/** Time for each component of a process to shut down before the process is killed. */
export const stopTimeoutMs = 20_000;
/** Time for the supervisor to stop everything, before `down` kills the remaining processes. */
export const downTimeoutMs = 60_000;
/** Time after SIGKILL until a process must be gone. */
export const killTimeoutMs = 5_000;
/** First and longest pause before a dead component is started again. */
export const restartPauseMinMs = 200;
export const restartPauseMaxMs = 30_000;
/** Time after which a running component resets its restart pause. */
export const healthyAfterMs = 30_000;
/** Size at which a log file is rotated to `.1`, replacing the previous one. */
export const logBytesMax = 64 * 1024 * 1024;
export const logCheckPeriodMs = 30_000;
/** Lines of the log of a failed component in the error. */
export const reportedLogLineCount = 5;
/** Clusters on one machine. */
export const clusterCountMax = 64;
/** API servers of one cluster on one machine. */
export const replicaCountMax = 5;
/** Node agents of one cluster: each has a /24 of the cluster's /16 and a port of its block. */
export const nodeCountMax = 100;
/** Bytes of the response to a readiness probe. */
export const probeBytesMax = 16 * 1024 * 1024;
export const probeTimeoutMs = 5_000;
/** A second signal within this time is the first one, forwarded twice. */
export const repeatedSignalMs = 1_000;
/** Time to remove the remains of one killed process. */
export const teardownTimeoutMs = 30_000;
/** Time to create one of the objects that a cluster of `up` has at first. */
export const initialObjectsTimeoutMs = 30_000;
/** Period in which the certificates of a running cluster are checked, and renewed if due. */
export const renewalPeriodMs = 12 * 60 * 60_000;
