/** The limits of the service proxy. */

/** Time limit for connecting to an endpoint before the next one is tried. */
export const connectTimeoutMs = 2_000;
/** Endpoints tried for one connection. */
export const connectAttemptCountMax = 8;
/** Connections waiting to be accepted on one service port. */
export const acceptBacklog = 1_024;
/** Idle time of a TCP connection after which the kernel sends keep-alive probes. */
export const keepAliveDelayMs = 60_000;
/** UDP flows of one service port; each holds a socket. */
export const udpFlowCountMax = 4_096;
/** Clients whose session affinity is stored, per service port. */
export const affinityEntryCountMax = 65_536;
/** Time limit of one `ip` command. */
export const addressCommandTimeoutMs = 10_000;
/** Output of an `ip` command, which lists the addresses of one interface or routes. */
export const addressOutputBytesMax = 16 * 1024 * 1024;
/** Time without a first list from the API server after which a warning is logged. */
export const informerSyncTimeoutMs = 30_000;
/** Concurrent syncs of services; each waits for sockets and the `ip` command. */
export const syncWorkerCount = 4;
/**
 * Time between two checks of the routes to other machines. Higher: a route that the kernel removed
 * with its interface is restored later. Lower: more `ip` commands.
 */
export const routeCheckPeriodMs = 30_000;
