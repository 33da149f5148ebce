/** Upper limits of this library. */
export const limits = {
  /** A complete response in memory; the largest possible list page. */
  responseBytesMax: 1024 * 1024 * 1024,
  /** One event of a watch. */
  watchEventBytesMax: 32 * 1024 * 1024,
  /**
   * Requests in progress per server; the others wait for them. Higher: a server commits more writes
   * together, and a burst takes more of its limits on requests. Lower: a burst takes longer.
   */
  requestConcurrencyMax: 64,
  /** Open streams (watches, logs) per server. */
  streamCountMax: 512,
  /** Attempts of one request per server. */
  attemptCountMax: 8,
  /**
   * How long a server with open streams or requests may be quiet before it is probed. Higher:
   * watches on a suspended server stall longer. Lower: more probes.
   */
  quietMsMax: 5_000,
  /**
   * Timeout of a probe; after two timeouts the connections are closed. Higher: watches on a
   * suspended server stall longer. Lower: a slow server loses its clients.
   */
  probeTimeoutMs: 4_000,
  /**
   * Period in which a kubeconfig and its files are checked for changes. Higher: rotated credentials
   * are used later. Lower: more reads.
   */
  credentialPollMs: 10_000,
  /** Refusals of the lookup of the trusted clients until it has failed, about 10 s. */
  refusedLookupCountMax: 5,
  /** The longest wait between two attempts, whatever Retry-After says. */
  retryDelayMsMax: 30_000,
  /** Requests that wait for the rate limit. */
  throttledCountMax: 10_000,
  /** Pages of one list. */
  pageCountMax: 100_000,
  /** Concurrent requests of discovery. */
  discoveryConcurrencyMax: 8,
  /** Ready and delayed keys in one work queue. */
  queueKeyCountMax: 1_000_000,
  /** Different events waiting to be written. About 1 KB each. */
  eventQueueMax: 5_000,
  /**
   * Events that are written at the same time. Higher: a burst is written sooner, and delays other
   * requests of the process more. Lower: a burst fills the queue, and events are dropped.
   */
  eventConcurrencyMax: 8,
  /**
   * How long an event waits for other requests of its client. Higher: events of a long burst are
   * written later, and more of them wait. Lower: they delay its other requests.
   */
  eventYieldMsMax: 5_000,
  /**
   * How long a client must have sent nothing else before it sends requests in the background.
   * Higher: events of single changes are written later. Lower: a burst with pauses is delayed.
   */
  foregroundQuietMs: 50,
  /** Entries in each cache of the event correlator. */
  eventMemoryMax: 4_096,
  /** Attempts to write one event. */
  eventAttemptCountMax: 12,
  /** Characters of an event's message. The server rejects longer ones. */
  eventMessageCharsMax: 1_024,
} as const;
