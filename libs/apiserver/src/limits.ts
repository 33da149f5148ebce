/** Named maxima of the API server: every queue, wait and payload it keeps has one here. */

/** Request bodies above it are refused with 413. */
export const requestBodyBytesMax = 3 * 1024 * 1024;
/** Tokens of a YAML body. Higher: one body holds up others for longer (some 4 us a token), lower: long
 *  manifests have to be sent as JSON. */
export const yamlTokensMax = 100_000;
/** Nesting of a YAML body. Higher risks the stack, lower refuses deep custom resources. */
export const yamlDepthMax = 256;
/** What anchors in a YAML body may multiply to. */
export const yamlAliasesMax = 100;
/** Merge keys (`<<`) of a YAML body: each copies a map, which may be most of the body. */
export const yamlMergesMax = 100;
/** A body must have arrived within this time, whatever the request's own deadline. */
export const bodyReadTimeoutMs = 30_000;
/** Bytes of one gathered write of a long answer. */
export const gatherBlockBytes = 256 * 1024;
/** Idle gather blocks kept for the next long answer. */
export const gatherBlocksIdleMax = 8;
/** Answers at least this long are compressed when the client accepts gzip. */
export const gzipThresholdBytes = 128 * 1024;
/** Events and bytes waiting for one watcher; beyond either it is ended and resumes by version. */
export const watchQueueEventsMax = 10_000;
export const watchQueueBytesMax = 32 * 1024 * 1024;
/** A watcher whose socket holds more unsent bytes than this gets no further writes until it drains. */
export const watchSocketBufferBytesMax = 1024 * 1024;
/** A client must take the objects a watch begins with at least that often. */
export const watchDrainTimeoutMs = 60_000;
/** Time in one turn of the event loop for writing to watchers. */
export const watchFlushSliceMs = 4;
/** Bytes gathered in one write to a watcher. */
export const watchWriteBytesMax = 256 * 1024;
/** A message of a client that has nothing to say: of a watch or a log over WebSocket. */
export const webSocketInputBytesMax = 64 * 1024;
/** Watches without a client limit end within this range, spread so that clients do not return together. */
export const watchDurationMsMin = 30 * 60_000;
export const watchDurationMsMax = 60 * 60_000;
/** Time between bookmarks of one watch. */
export const bookmarkIntervalMs = 60_000;
/** A bookmark is sent that long before a watch reaches its time limit. */
export const bookmarkBeforeEndMs = 2_000;
/** How long a read at a given version waits for this replica to reach it. */
export const resourceVersionWaitMs = 3_000;
/** Attempts of an update loop that lost against other writers. */
export const updateAttemptsMax = 10;
/** Attempts to find a free generated name. */
export const generatedNameAttemptsMax = 8;
/** Attempts of an allocation that lost its claim to another writer. */
export const allocationAttemptsMax = 16;
/** Objects examined for a selective list before the event loop is let go. */
export const selectorScanBatch = 500;
/** Entries read from the store at once while a selective or very long list is put together. */
export const listPageEntries = 10_000;
/** Source bytes of parsed objects kept on entries; the oldest are dropped beyond it. */
export const parsedCacheBytesMax = 64 * 1024 * 1024;
/** Objects that one collection delete works on at a time. */
export const deleteCollectionConcurrency = 16;
/** Users whose credentials are remembered. */
export const credentialCacheEntriesMax = 10_000;
/** How long the account behind a token may take to be read. */
export const credentialReadTimeoutMs = 5_000;
/** What an agent says about a log that it does not give, as far as it is handed on. */
export const logRefusalBytesMax = 50_000;
/** How long a node agent may take to accept the connection for a pod's log. */
export const proxyConnectTimeoutMs = 10_000;
/** A server that has died is among the API's endpoints for that long. Higher: clients are led to it
 *  longer; lower: a short stall takes a living server out. */
export const serverKeyLifeMs = 15_000;
/** Time between two renewals: several fit into the life. */
export const serverKeyRenewMs = 5_000;
/** Servers of one cluster that are told as endpoints. */
export const serversMax = 64;
/** Joined connections without a byte, pings included, are cut after it. */
export const joinedIdleTimeoutMs = 4 * 3_600_000;
/** Between two questions of the system whether the other machine is still there. */
export const joinedKeepAliveMs = 30_000;
/** A longer tag of a proxied page is left as it is. */
export const htmlTagBytesMax = 16 * 1024;
/** Connections that are joined to others at a time. Higher: more sockets, lower: streams get 429. */
export const joinedConnectionsMax = 5_000;

/**
 * Times that an apply finds the object gone and then, on making it, there again. Lower gives up sooner
 * under a storm of creations and deletions; higher holds the request for longer.
 */
export const applyAttemptsMax = 5;

/** From a change to the round that looks at it; higher: later, but fewer rounds for many changes. */
export const upkeepSettleMs = 100;
/** Between rounds without changes. */
export const upkeepPeriodMs = 60_000;
/** For one round. */
export const upkeepTimeoutMs = 30_000;

/** A store that has not answered after it counts as one that does not work. */
export const componentCheckTimeoutMs = 2_000;
/** Attempts to charge a quota that other servers charge as well. */
export const quotaChargeAttemptsMax = 100;
/**
 * Writes to one namespace that wait for its quotas. Higher: longer waits and more memory, lower: refusals
 * sooner.
 */
export const turnsWaitingMax = 1_000;
/** Users whose flow schemas are remembered. Higher: more memory, lower: more users are matched anew. */
export const classifiedUsersMax = 10_000;
/** Flows of one schema whose queues are remembered. The same. */
export const flowsMax = 10_000;
/** Between two samples of how full priority levels are, as the interface has it. */
export const ratioSamplePeriodMs = 1;
/** Of a request's time, the part that it may wait for a seat, as the interface has it. */
export const seatWaitPart = 1 / 4;
/** Unused queues of a priority level that a dump names. */
export const dumpedQueuesMax = 1_024;

/** Of the file of the audit policy. */
export const auditPolicyBytesMax = 1024 * 1024;
/** Longer user agents are cut in the audit log. */
export const auditUserAgentLengthMax = 1024;
/** Addresses that proxies may add to one audit event. */
export const auditSourceAddressesMax = 32;
/** Lines that wait for a slow disk; events beyond them are lost. Higher: more memory. */
export const auditPendingEventsMax = 10_000;
/** Batches on their way to the audit webhook. Higher: more load on it, lower: a slow one fills the buffer. */
export const auditBatchesRunningMax = 8;
export const auditWebhookAttemptsMax = 5;
export const auditWebhookPauseMaxMs = 120_000;
/** For one attempt. */
export const auditWebhookTimeoutMs = 30_000;
/** What is buffered when the server ends has that long to be written. */
export const auditStopTimeoutMs = 5_000;

/** Commits of a custom resource while its definition gets other conditions. */
export const definitionAttemptsMax = 5;
/** For the conversion of one event of a watch. Higher: a watch stands still for longer behind a slow
 *  webhook, lower: it is ended sooner. */
export const watchConversionTimeoutMs = 30_000;
/** From a change of definitions to its effect. Short: clients wait for it, and some cannot read a status
 *  without conditions. Higher: fewer rounds while many definitions come at once. */
export const definitionSettleMs = 5;
/** Between two looks at objects that something still holds while their definition goes. */
export const cleanupCheckMs = 1_000;
/** Objects of a definition that are removed at a time. */
export const cleanupConcurrency = 16;
/** For one question to a conversion webhook, whatever time the request still has. */
export const conversionTimeoutMs = 30_000;
/** Of an answer of a webhook. */
export const webhookAnswerBytesMax = 64 * 1024 * 1024;
/** Webhooks that connections are kept open to. */
export const webhookClientsMax = 256;
