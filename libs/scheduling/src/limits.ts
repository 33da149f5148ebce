/** The limits of the scheduler that are not options. */

/** Pods in the queue; further pods are rejected with a log line. Far above any cluster. */
export const queuedPodCountMax = 1_000_000;

/** Defaults of the back-off of an unschedulable pod: the first pause, doubled up to the longest. */
export const backoffInitialMs = 1_000;
export const backoffMaxMs = 10_000;

/** Default of the time that a pod may wait for the binding of its volumes. */
export const volumeBindTimeoutMsDefault = 600_000;

/** Extenders of a configuration, because each adds requests to every cycle. */
export const extenderCountMax = 32;

/** Default time limit of one request to an extender. */
export const extenderTimeoutMsDefault = 5_000;

/** Bytes of the response of an extender; longer ones fail. */
export const extenderResponseBytesMax = 64 * 1024 * 1024;

/** The longest wait that a Permit plugin can set. */
export const permitWaitMsMax = 15 * 60_000;

/** Time after which an unschedulable pod is retried without an event. */
export const unschedulableStayMs = 60_000;

/**
 * Pods that are retried per flush because of that time. Higher: many pods that fit nowhere delay
 * other pods. Lower: a pod that no event concerns waits for longer if many do.
 */
export const expiredRetryCountMax = 50;

/**
 * Pause after an examination of the unschedulable pods, as a multiple of its duration. Higher: pods
 * are retried later if many wait. Lower: changes of a cluster with many waiting pods slow it.
 */
export const retryPauseFactor = 9;

/**
 * Newly assigned pods that are examined one by one; with more, all pods they may help are retried.
 */
export const assignedPodCountMax = 1_000;

/** Period in which pods in back-off and unschedulable pods are checked. */
export const queueFlushPeriodMs = 1_000;

/** Time after the binding until an assumed pod that the watch has not confirmed expires. */
export const assumedPodTimeToLiveMs = 30_000;

/** Bindings in flight. Higher: hides the latency of the server. Lower: less load on the server. */
export const bindConcurrencyMax = 64;

/** Condition writes in flight; further ones wait in order. */
export const statusConcurrencyMax = 8;

/**
 * Waiting condition writes; beyond it the oldest is dropped, because the next attempt writes it
 * again.
 */
export const statusQueueMax = 10_000;

/** Time limit of one request to the server. */
export const requestTimeoutMs = 15_000;

/** Time for which cycles run before they yield to the event loop. */
export const cycleSliceMs = 8;

/** Feasible nodes that a sampled search finds at least before it stops. */
export const feasibleNodeCountMin = 100;

/**
 * Results that each node retains for the cycles of later pods, such as the number of pods that a
 * selector matches. Higher: more memory. Lower: pods of many groups count the pods of all nodes
 * again.
 */
export const derivedCountMax = 128;

/** The lowest share of the cluster that is sampled, in percent. */
export const nodePercentageMin = 5;

/** Pause between checks whether the volumes of a pod are bound. */
export const volumePollMs = 200;

/** Decisions that are retained for explanations; beyond it the oldest is dropped. */
export const decisionCountMax = 5_000;

/**
 * Nodes in all retained decisions. About 100 bytes each: a rejection, or one score of every plugin.
 * Higher: decisions are known for longer. Lower: less memory.
 */
export const decisionNodeCountMax = 300_000;

/** Evictions in flight for one preemption. */
export const evictionConcurrencyMax = 16;
