/** Every maximum of `up` and `down`, by name. */

/** Time for one component to become ready; then up gives up and says why. */
export const readyTimeoutMs = 60_000;
/** Time for a component to end in order before it is killed. */
export const stopTimeoutMs = 20_000;
/** Time `down` gives the supervisor for everything, before it kills what is left itself. */
export const downTimeoutMs = 60_000;
/** Time after SIGKILL until a process must be gone. */
export const killTimeoutMs = 5_000;
/** First and longest pause before a dead component is started again. */
export const restartPauseMinMs = 200;
export const restartPauseMaxMs = 30_000;
/** A component that lived this long starts with the first pause again. */
export const healthyAfterMs = 30_000;
/** A log file larger than this is set aside as `.1`, replacing the one before. */
export const logBytesMax = 64 * 1024 * 1024;
export const logCheckPeriodMs = 30_000;
/** Lines of a failed component's log that are shown. */
export const shownLogLineCount = 5;
/** Clusters that fit beside each other on one machine. */
export const clusterCountMax = 64;
/** API servers of one cluster on one machine. */
export const replicaCountMax = 5;
/** Node agents of one cluster: each has a /24 of the cluster's /16 and a port of its block. */
export const nodeCountMax = 100;
/** Answer of the API server to a readiness question. */
export const probeBytesMax = 16 * 1024 * 1024;
export const probeTimeoutMs = 5_000;
/** A signal this soon after the first is the same one, passed on twice. */
export const repeatedSignalMs = 1_000;
/** Time to remove what one killed process has left. */
export const teardownTimeoutMs = 30_000;
