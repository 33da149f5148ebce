/** The limits of streams between clients, API server and node agents. */

/**
 * Size of a WebSocket message; the same as upstream. Higher: more memory per connection. Lower:
 * clients that send a large write as one message fail.
 */
export const webSocketMessageBytesMax = 32 * 1024 * 1024;
/** Bytes that are buffered for the reader of a stream before reading from the connection stops. */
export const streamBufferBytesMax = 256 * 1024;
/** Size of a sent data frame. */
export const dataFrameBytesMax = 32 * 1024;
/** Size of a received control frame, which is buffered as a whole. */
export const controlFrameBytesMax = 64 * 1024;
/** Size of the decompressed headers of a stream; guards against decompression bombs. */
export const headerBytesMax = 64 * 1024;
/** Number of headers of a stream. */
export const headerCountMax = 128;
/** Concurrent streams of one connection: two for each forwarded connection. */
export const streamsPerSessionMax = 1_000;
/** Time limit for a client to open its streams. */
export const streamCreationTimeoutMs = 30_000;
/** Interval between pings. */
export const pingIntervalMs = 30_000;
/** Time without received data after which the peer is considered dead. */
export const silenceMsMax = 90_000;
/** Time limit for the peer to receive the last bytes of a closed session. */
export const closeTimeoutMs = 10_000;
/** Ports of one port-forward WebSocket; each has two channels. */
export const forwardedPortsMax = 100;
