/** Every maximum of the service proxy, in one place. */

/** Time one try to reach an endpoint may take before the next is tried. */
export const connectTimeoutMs = 2_000;
/** Endpoints tried for one connection. */
export const connectAttemptCountMax = 8;
/** Connections waiting to be accepted on one service port. */
export const acceptBacklog = 1_024;
/** How long a TCP connection may be silent before the kernel asks whether the peer is there. */
export const keepAliveDelayMs = 60_000;
/** UDP flows of one service port; each holds a socket. */
export const udpFlowCountMax = 4_096;
/** Clients whose endpoint is remembered for one service port. */
export const affinityEntryCountMax = 65_536;
/** Time one `ip` command may take. */
export const addressCommandTimeoutMs = 10_000;
/** Bytes kept of what it says: the addresses of one interface. */
export const addressOutputBytesMax = 16 * 1024 * 1024;
/** How long to wait for first lists before saying that they do not come. */
export const informerSyncTimeoutMs = 30_000;
/** Services under way at once; each waits on sockets and the `ip` command. */
export const syncWorkerCount = 4;
