/** Named maxima of the registry: every queue, wait and payload has one here. */

/** Events waiting for one watcher; beyond it the watch ends and the client resumes by version. */
export const watchQueueEventsMax = 10_000;
/** How long a read at a given version waits for this replica to reach it. */
export const resourceVersionWaitMs = 3_000;
/** Attempts of an update that loses against other writers. */
export const updateAttemptsMax = 10;
/** Attempts to find a free generated name. */
export const generatedNameAttemptsMax = 8;
/** Attempts of an allocation that loses its claim to another writer. */
export const allocationAttemptsMax = 16;
/** Objects examined for a selective list before it yields to the event loop. */
export const selectorScanBatch = 500;
/** Entries read from the store in one page of a selective list. */
export const listPageEntries = 10_000;
/** Source bytes of parsed objects cached on entries; beyond it the oldest are dropped. */
export const parsedCacheBytesMax = 64 * 1024 * 1024;
/**
 * How long a dead server stays among the endpoints of the API; they follow a second later at most.
 * Higher: clients connect to it for longer. Lower: a short stall removes a living server.
 */
export const serverKeyLifeMs = 20_000;
/**
 * Time between two renewals, and until a failed one is repeated; several attempts fit into the
 * life. Higher: a short stall removes a living server. Lower: more writes while idle.
 */
export const serverKeyRenewMs = 12_000;
export const serverKeyRetryMs = 1_000;
/** Servers of one cluster that are published as endpoints. */
export const serversMax = 64;
/**
 * Delay from a change to the round that handles it. Higher: later. Lower: more rounds for many
 * changes.
 */
export const reconcileSettleMs = 100;
/** Time between rounds without changes. */
export const reconcilePeriodMs = 60_000;
/**
 * Time between availability checks of an aggregated API server that passes them. Higher: a server
 * that stops responding is reported later. Lower: more requests.
 */
export const availabilityPeriodMs = 30_000;
/** Time to the next check after a failure; it doubles with each further one up to the period. */
export const availabilityRetryMs = 500;
/** Time limit of one round. */
export const reconcileTimeoutMs = 30_000;
/** Commits of a custom resource while the conditions of its definition change. */
export const definitionAttemptsMax = 5;
/**
 * Time limit for the conversion of one event of a watch. Higher: a slow webhook delays the watch
 * for longer. Lower: the watch ends sooner.
 */
export const watchConversionTimeoutMs = 30_000;
/**
 * Delay from a change of definitions to its effect. Clients wait for it, and some cannot read a
 * status without conditions. Higher: later. Lower: more rounds while many definitions are created.
 */
export const definitionSettleMs = 5;
/** Time between two checks for objects that still hold back the deletion of their definition. */
export const cleanupCheckMs = 1_000;
/** Objects of a definition that are deleted concurrently. */
export const cleanupConcurrency = 16;
/** Time limit of the read of an account, pod or secret that a token is bound to. */
export const objectLookupTimeoutMs = 5_000;
