/** The most of everything in this library. */
export const limits = {
  /** Pods one sync of a replica set makes or removes. */
  replicaBurstMax: 500,
  /** Requests of one batch that are out at once. */
  batchConcurrencyMax: 50,
  /** Length of a revision history annotation, in characters. */
  revisionHistoryCharsMax: 2_000,
  /** Addresses in one Endpoints object before it is marked as over capacity. */
  endpointAddressCountMax: 1_000,
  /** Objects in the garbage collector's graph. */
  graphNodeCountMax: 2_000_000,
  /** Time for caches to fill at start. */
  syncTimeoutMs: 120_000,
  /** Objects deleted at once while a namespace goes. */
  namespaceDeletionConcurrencyMax: 8,
  /** Objects in one page of a recount; higher: more memory at once, lower: more requests. */
  quotaPageObjectsMax: 500,
  /** Listeners to the end of the controller manager; more would be a leak. */
  stopListenerCountMax: 1_000,
} as const;
