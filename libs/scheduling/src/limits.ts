/** Every maximum of the scheduler that is not an option, with the reason for its value. */

/** Pods known to the queue. Beyond it new pods are refused with a log line; far above any cluster. */
export const queuedPodCountMax = 1_000_000;

/** Wait before a pod that could not be placed is tried again: doubles from the first to the second. */
export const backoffInitialMs = 1_000;
export const backoffMaxMs = 10_000;

/** A pod that no event moved is tried again after this long, in case an event was misjudged. */
export const unschedulableStayMs = 60_000;

/** How often back-off and unschedulable pods are looked through. */
export const queueFlushPeriodMs = 1_000;

/** A pod counts on its node that long after binding without being seen there by the watch. */
export const assumedPodTimeToLiveMs = 30_000;

/** Bindings on their way at a time: higher hides server latency, lower spares the server. */
export const bindConcurrencyMax = 64;

/** Condition and event writes on their way at a time; further ones wait, the oldest first. */
export const statusConcurrencyMax = 8;

/** Condition writes waiting. Beyond it the oldest is dropped: the next attempt writes it again. */
export const statusQueueMax = 10_000;

/** One request to the server may take this long. */
export const requestTimeoutMs = 15_000;

/** Cycles run that long at a stretch before timers and sockets get their turn. */
export const cycleSliceMs = 8;

/** Fewest feasible nodes that a sampled search finds before it stops. */
export const feasibleNodeCountMin = 100;

/** Sampling never goes below this share of the cluster, in percent. */
export const nodePercentageMin = 5;
