/** Named maxima of streams between clients, API server and node agents. */

/**
 * One message of a WebSocket. Higher: more memory a connection; lower: clients with large writes fail,
 * which send in one message what they were given at once. Other servers of the interface take as much.
 */
export const webSocketMessageBytesMax = 32 * 1024 * 1024;
/** Bytes held for a reader of one stream before nothing more is read from its connection. */
export const streamBufferBytesMax = 256 * 1024;
/** Bytes of one frame that this side sends. */
export const dataFrameBytesMax = 32 * 1024;
/** A control frame; it is held as a whole. */
export const controlFrameBytesMax = 64 * 1024;
/** Headers of one stream, once decompressed: small input must not become much memory. */
export const headerBytesMax = 64 * 1024;
/** Headers of one stream. */
export const headerCountMax = 128;
/** Streams of one connection that are open at a time: two for each forwarded connection. */
export const streamsPerSessionMax = 1_000;
/** A client must have opened the streams it has announced within this time. */
export const streamCreationTimeoutMs = 30_000;
/** Between two questions whether the other side is still there. */
export const pingIntervalMs = 30_000;
/** The other side is gone when nothing has come from it for this long. */
export const silenceMsMax = 90_000;
/** Time the other side gets to take the last bytes of a session that has ended. */
export const closeTimeoutMs = 10_000;
/** Ports of one WebSocket of port-forward: each has two channels. */
export const forwardedPortsMax = 100;
