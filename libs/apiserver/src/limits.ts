/** Named maxima of the API server: every queue, wait and payload has one here. */

/**
 * Maximum request body; a larger one is rejected with 413. Higher: more memory. Lower: smaller
 * objects.
 */
export const requestBodyBytesMax = 3 * 1024 * 1024;
/**
 * Tokens of a YAML body. Higher: one body blocks other requests for longer (about 4 us a token).
 * Lower: clients have to send long manifests as JSON.
 */
export const yamlTokensMax = 100_000;
/** Nesting of a YAML body. Higher: risks a stack overflow. Lower: rejects deep custom resources. */
export const yamlDepthMax = 256;
/** Expansion of the anchors in a YAML body. Higher: more memory. Lower: rejects more bodies. */
export const yamlAliasesMax = 100;
/** Merge keys (`<<`) of a YAML body; each copies a map, which may be most of the body. */
export const yamlMergesMax = 100;
/** Time limit for a request body, independent of the request's own deadline. */
export const bodyReadTimeoutMs = 30_000;
/**
 * Time of work on a long response before it yields to the event loop. Higher: other requests wait
 * longer. Lower: the response takes longer.
 */
export const responseSliceMs = 2;
/** Size of one gathered write of a long response. Higher: more memory. Lower: more writes. */
export const gatherBlockBytes = 256 * 1024;
/** Idle gather blocks that are pooled. Higher: more memory. Lower: more allocations. */
export const gatherBlocksIdleMax = 8;
/**
 * Responses of at least this size are compressed if the client accepts gzip. Higher: more traffic.
 * Lower: more CPU.
 */
export const gzipThresholdBytes = 128 * 1024;
/**
 * Lists up to this size are compressed completely before they are sent, and the compressed form is
 * cached. Higher: more memory. Lower: more lists are compressed for each request.
 */
export const compressedListBytesMax = 64 * 1024 * 1024;
/** Compressed bytes of all cached lists. Higher: more memory. Lower: lists are compressed again. */
export const compressedListsBytesMax = 64 * 1024 * 1024;
/** Number of cached compressed lists. */
export const compressedListsMax = 256;
/** Time after which a cached compressed list is released. */
export const compressedListTtlMs = 60_000;
/**
 * Lists that are compressed for the cache at the same time; others are compressed while they are
 * sent. Higher: more memory.
 */
export const compressionsInFlightMax = 4;
/**
 * Bytes queued for one watcher; beyond it the watch ends and the client resumes by version. Higher:
 * more memory. Lower: slow watchers restart more often.
 */
export const watchQueueBytesMax = 32 * 1024 * 1024;
/**
 * Unsent bytes in the socket of a watcher above which writes pause until it drains. Higher: more
 * memory. Lower: more pauses.
 */
export const watchSocketBufferBytesMax = 1024 * 1024;
/**
 * Time limit for a client to drain the initial objects of a watch. Higher: slow clients hold memory
 * for longer. Lower: they are disconnected sooner.
 */
export const watchDrainTimeoutMs = 60_000;
/**
 * Time per tick of the event loop for writes to watchers. Higher: other requests wait longer.
 * Lower: events arrive later.
 */
export const watchFlushSliceMs = 2;
/**
 * Events of one watcher that wait to be encoded. Higher: more memory for slow watchers. Lower: a
 * burst delays other requests.
 */
export const watchPendingEventsMax = 64;
/** Bytes gathered in one write to a watcher. Higher: more memory. Lower: more writes. */
export const watchWriteBytesMax = 256 * 1024;
/**
 * Size of a message that a client sends over the WebSocket of a watch or log; such messages are
 * ignored.
 */
export const webSocketInputBytesMax = 64 * 1024;
/**
 * Duration of watches without a client limit, spread over a range so that clients do not reconnect
 * simultaneously.
 */
export const watchDurationMsMin = 30 * 60_000;
export const watchDurationMsMax = 60 * 60_000;
/**
 * Time between bookmarks of a watch. Higher: clients resume from older versions. Lower: more
 * traffic.
 */
export const bookmarkIntervalMs = 60_000;
/**
 * Watches that are due within this time get their bookmarks together. Higher: fewer, longer rounds.
 */
export const bookmarkGatherMs = 1_000;
/** Bookmarks per turn of the event loop. Higher: other requests wait longer. */
export const bookmarkSliceWatches = 256;
/** Time before the end of a watch at which its last bookmark is sent. */
export const bookmarkBeforeEndMs = 2_000;
/** Objects that one collection delete processes concurrently. */
export const deleteCollectionConcurrency = 16;
/** Size of a node agent's error message about a log that is forwarded to the client. */
export const logRefusalBytesMax = 50_000;
/** Time limit for a node agent to accept the connection for a pod's log. */
export const proxyConnectTimeoutMs = 10_000;
/**
 * Bytes of the head of a proxied response. Higher: a faulty target can use more memory. Lower:
 * responses with many cookies fail.
 */
export const proxyHeaderBytesMax = 64 * 1024;
/** Time without a byte, pings included, after which joined connections are closed. */
export const joinedIdleTimeoutMs = 4 * 3_600_000;
/** Interval of TCP keep-alive probes on joined connections. */
export const joinedKeepAliveMs = 30_000;
/** Size of a tag of a proxied page above which its links are not rewritten. */
export const htmlTagBytesMax = 16 * 1024;
/**
 * Concurrent joined connections. Higher: more sockets. Lower: more streams are rejected with 429.
 */
export const joinedConnectionsMax = 5_000;

/**
 * Attempts of an apply when the object is deleted and created concurrently. Higher: the request
 * takes longer. Lower: it fails sooner under many creations and deletions.
 */
export const applyAttemptsMax = 5;

/**
 * Time limit of a health check of the store. Higher: a hanging store is reported later. Lower: a
 * slow store is reported as unhealthy.
 */
export const componentCheckTimeoutMs = 2_000;
/**
 * Refusals with 429 per second that are sent immediately. Higher: clients that ignore them use more
 * CPU. Lower: a client learns of an overload later.
 */
export const refusalsPerSecond = 200;
/** Refusals that are sent immediately after a time without any. */
export const refusalBurst = 400;
/**
 * Time in seconds over which refusals that wait are spread. Higher: clients wait longer for their
 * 429. Lower: many clients that ignore it use more CPU.
 */
export const refusalDelaySeconds = 5;
/** Refusals that wait; others are sent immediately. Higher: more memory. */
export const refusalsWaitingMax = 20_000;
/**
 * Users whose flow schemas are cached. Higher: more memory. Lower: more users are matched again.
 */
export const classifiedUsersMax = 10_000;
/**
 * Flows of one schema whose queues are cached. Higher: more memory. Lower: more hands are dealt
 * again.
 */
export const flowsMax = 10_000;
/** Period of the samples of the utilisation of priority levels, as in the interface. */
export const ratioSamplePeriodMs = 1;
/** Fraction of a request's time limit that it may wait for a seat, as in the interface. */
export const seatWaitPart = 1 / 4;
/** Unused queues of a priority level that a dump lists. */
export const dumpedQueuesMax = 1_024;

/** Size of the audit policy file. */
export const auditPolicyBytesMax = 1024 * 1024;
/** Length of a user agent in the audit log; longer ones are truncated. */
export const auditUserAgentLengthMax = 1024;
/** Forwarded addresses in one audit event. */
export const auditSourceAddressesMax = 32;
/**
 * Lines that wait for a slow disk; further events are lost. Higher: more memory. Lower: more events
 * are lost.
 */
export const auditPendingEventsMax = 10_000;
/**
 * Concurrent batches to the audit webhook. Higher: more load on the webhook. Lower: a slow webhook
 * fills the buffer.
 */
export const auditBatchesRunningMax = 8;
/**
 * Attempts to deliver one batch. Higher: more load on a failing webhook. Lower: more lost events.
 */
export const auditWebhookAttemptsMax = 5;
/** Longest pause between two attempts. */
export const auditWebhookPauseMaxMs = 120_000;
/** Size of a response of the audit webhook, which is ignored. */
export const auditWebhookResponseBytesMax = 1024 * 1024;
/** Time limit of one attempt. */
export const auditWebhookTimeoutMs = 30_000;
/**
 * Time limit for writing buffered events when the server stops. Higher: a slower shutdown. Lower:
 * more events are lost.
 */
export const auditStopTimeoutMs = 5_000;

/** Time limit of one request to a conversion webhook, independent of the request's own deadline. */
export const conversionTimeoutMs = 30_000;
/** Size of the response of a conversion webhook. */
export const conversionResponseBytesMax = 64 * 1024 * 1024;

/**
 * Changes that the graph of the node authorizer collects before it decodes them unasked. Higher:
 * the next request of a node may wait longer. Lower: writes of pods pay for the decoding.
 */
export const graphChangesMax = 1_000;
/** Changes decoded in one turn of the event loop. Higher: other requests wait longer. */
export const graphChangesPerTurnMax = 200;

/**
 * Time limit of a review by a webhook, all attempts included, as in the interface. Higher: requests
 * wait longer for a webhook that hangs. Lower: a slow webhook rejects its users.
 */
export const reviewTimeoutMs = 30_000;
/** Attempts of one review. Higher: more load on a failing webhook. Lower: more rejected users. */
export const reviewAttemptsMax = 5;
/** Pause before the second attempt; each further pause is 1.5 times as long. */
export const reviewPauseInitialMs = 500;
/** Longest pause between two attempts. */
export const reviewPauseMaxMs = 5_000;
/** Size of the response to a review. Higher: a lying webhook fills the memory. */
export const reviewResponseBytesMax = 1024 * 1024;
/**
 * Reviews in flight to one webhook. Higher: more memory while the webhook hangs. Lower: users are
 * rejected earlier.
 */
export const reviewsInFlightMax = 1_000;

/**
 * Bytes of decrypted entries that are cached. Higher: more plaintext in memory. Lower: encrypted
 * objects are decrypted more often.
 */
export const decryptedCacheBytesMax = 64 * 1024 * 1024;
/** Entries of a list that are decrypted in one turn of the event loop. Higher: other work waits. */
export const decryptSliceEntries = 500;
/** Time limit for the decryption of the events of a watch, which may need a key service. */
export const watchDecryptionTimeoutMs = 30_000;
/** Objects that one request writes again under the present key. Higher: longer requests. */
export const reencryptObjectsMax = 1_000;
/** Objects that are written again concurrently. Higher: other writes wait longer. */
export const reencryptConcurrency = 16;
/** Attempts for one object that other writers change at the same time. */
export const reencryptAttemptsMax = 10;
/** Failures that one response of a reencryption describes. */
export const reencryptFailuresMax = 20;

/**
 * Requests in flight to one aggregated API server, except watches and other streams; further ones
 * get 429. Higher: more memory while a server hangs. Lower: clients of a slow server are rejected.
 */
export const aggregatedRequestsMax = 400;
/** Watches and other streams to one aggregated API server; further ones get 429. */
export const aggregatedStreamsMax = 5_000;
/**
 * Idle connections to one aggregated API server. Higher: more sockets. Lower: bursts of requests
 * wait for more handshakes.
 */
export const aggregatedIdleConnectionsMax = 32;
/** Time after which an idle connection to an aggregated API server is closed. */
export const aggregatedIdleTimeoutMs = 90_000;
/** Time limit of a discovery request to an aggregated API server, as in the interface. */
export const aggregatedDiscoveryTimeoutMs = 5_000;
/** Attempts of one availability check, at random endpoints. */
export const availabilityAttemptsMax = 5;
/** Size of the discovery document of one group version of an aggregated API server. */
export const aggregatedDiscoveryBytesMax = 1024 * 1024;
/** Resources that the discovery document of one group version may list, and their subresources. */
export const aggregatedResourcesMax = 1_000;
/**
 * Time limit for the OpenAPI document of an aggregated API server. Higher: a slow server delays its
 * own documents. Lower: slow servers have none.
 */
export const aggregatedDocumentTimeoutMs = 30_000;
/**
 * Size of the OpenAPI document of one aggregated API server; a longer one is left out. Higher: more
 * memory for each registered version.
 */
export const aggregatedDocumentBytesMax = 4 * 1024 * 1024;
/** Time between reads of the documents of an aggregated API server. */
export const aggregatedRefreshMs = 60_000;
/** Time after a failed read of these documents, at first; it doubles up to the period. */
export const aggregatedRetryMs = 2_000;

/**
 * Time for which the usage summary of a node is cached, or its failure. Node agents measure every
 * ten seconds. Higher: usage is reported later. Lower: more requests to node agents.
 */
export const nodeSummaryTtlMs = 10_000;
/** Nodes whose summaries are cached. */
export const nodeSummaryCountMax = 10_000;
/**
 * Time limit for the summary of one node. Higher: a node that hangs delays the usage of all others.
 * Lower: a slow node has no usage.
 */
export const nodeSummaryTimeoutMs = 5_000;
/** Size of the summary of one node: about 2 KB for each container. */
export const nodeSummaryBytesMax = 16 * 1024 * 1024;
/**
 * Summaries that one request reads concurrently. Higher: more sockets and memory. Lower: lists of
 * many nodes take longer.
 */
export const nodeSummariesInFlightMax = 32;
