/** The most of everything in this library. */
export const limits = {
  /** A whole answer in memory: the largest list page that is still read. */
  responseBytesMax: 1024 * 1024 * 1024,
  /** One event of a watch. */
  watchEventBytesMax: 32 * 1024 * 1024,
  /** Watches, logs and other streams open at once, a server. */
  streamCountMax: 512,
  /** Attempts of one request, for each server. */
  attemptCountMax: 8,
  /**
   * Quiet of a server with open streams or requests before it is asked whether it is there. Higher: watches
   * on a suspended server stand still longer; lower: more questions.
   */
  quietMsMax: 5_000,
  /**
   * Time for that answer; after two that did not come the connections are cut. Higher: as above; lower: a
   * server that is only slow loses its clients.
   */
  answerMsMax: 4_000,
  /** The longest wait between two attempts, whatever Retry-After says. */
  retryDelayMsMax: 30_000,
  /** Requests that wait for the rate limit. */
  throttledCountMax: 10_000,
  /** Pages of one list. */
  pageCountMax: 100_000,
  /** Groups and versions asked at once by discovery. */
  discoveryConcurrencyMax: 8,
  /** Keys in one work queue, waiting, delayed and in work. */
  queueKeyCountMax: 1_000_000,
  /** Events that wait to be written. */
  eventQueueMax: 1_000,
  /** Objects, sources and messages the event recorder remembers. */
  eventMemoryMax: 4_096,
  /** Attempts to write one event. */
  eventAttemptCountMax: 12,
  /** An event's message, in characters: the server refuses longer ones. */
  eventMessageCharsMax: 1_024,
} as const;
