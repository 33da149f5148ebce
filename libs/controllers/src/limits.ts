/** The most of everything in this library. */
export const limits = {
  /** Pods one sync of a replica set makes or removes. */
  replicaBurstMax: 500,
  /**
   * How long the status of a replica set waits for new pods to appear in the cache. Higher: it is
   * stale for longer if one does not. Lower: more writes while many pods are created.
   */
  replicaStatusDelayMs: 2_000,
  /** Pods that one sync of a daemon set creates or deletes. Higher: larger load peaks. */
  daemonBurstMax: 250,
  /** Names of a revision to try before the set is retried with back-off. */
  revisionNameAttemptCountMax: 10,
  /** First and longest pause before a failed daemon pod of a node is replaced again. */
  failedPodBackoffMsMin: 1_000,
  failedPodBackoffMsMax: 900_000,
  /** Concurrent requests of one batch. */
  batchConcurrencyMax: 50,
  /**
   * Attempts to create a pod while the outcome is unknown. Higher: an owner waits longer for a
   * server that does not respond. Lower: it waits more often for its expectations to expire.
   */
  podCreationAttemptCountMax: 3,
  /**
   * Longest wait for a moment of the wall clock. Higher: a changed clock is noticed later. Lower:
   * more reconciliations without effect.
   */
  wallClockWaitMsMax: 60_000,
  /**
   * Jobs, cron jobs, disruption budgets and autoscalers reconciled concurrently. Higher: more load
   * on the API server. Lower: changes wait longer.
   */
  jobWorkerCount: 5,
  cronJobWorkerCount: 5,
  disruptionWorkerCount: 1,
  autoscalerWorkerCount: 5,
  /** Pods with ephemeral volumes, and claims to expand, reconciled concurrently; as above. */
  ephemeralVolumeWorkerCount: 5,
  volumeExpandWorkerCount: 5,
  /** Nodes whose attached volumes are reconciled concurrently; as above. */
  attachDetachWorkerCount: 5,
  /**
   * Longest wait for a node to unmount a volume that no pod uses, before it is detached anyway.
   * Higher: pods wait longer for the volumes of a failed node. Lower: the writes of a slow node
   * may be lost.
   */
  unmountWaitMsMax: 360_000,
  /**
   * Nodes whose taints and labels are reconciled concurrently, and pods of nodes. Higher: more load
   * on the API server. Lower: changes of many nodes wait longer.
   */
  nodeWorkerCount: 8,
  nodePodWorkerCount: 4,
  /**
   * Pause between two checks of the nodes that wait for their eviction. Higher: evictions start
   * later. Lower: more work without effect.
   */
  nodeEvictionPeriodMs: 100,
  /**
   * Nodes that get their ranges concurrently, and their cache lifetime. Higher: more load on the
   * API server. Lower: new nodes of a large cluster wait longer.
   */
  nodeIpamWorkerCount: 30,
  ttlWorkerCount: 5,
  /**
   * Pause before a node without a free range is tried again. Higher: a range that became free
   * unnoticed is assigned later. Lower: more events.
   */
  nodeIpamRetryMs: 60_000,
  /**
   * Nodes whose routes are written concurrently. Higher: more load on the provider. Lower: the pods
   * of many new nodes are reachable later.
   */
  routeConcurrencyMax: 20,
  /** Largest number of bits between the prefixes of a cluster CIDR and of the range of a node. */
  nodeRangeBitsMax: { ipv4: 22, ipv6: 16 },
  /**
   * Pause before a load balancer that the provider cannot create is tried again. Higher: it is
   * created later. Lower: more events.
   */
  loadBalancerRetryMs: 60_000,
  /** Content of the configuration file of the provider `pool`. */
  poolRangeCountMax: 1_000,
  poolAddressCountMax: 65_536,
  poolMachineCountMax: 10_000,
  /** Pods that the collector deletes concurrently. */
  podCollectionConcurrencyMax: 16,
  /**
   * First and longest pause before the failure of a pod of a job is processed. Higher: jobs whose
   * pods fail take longer. Lower: pods that fail immediately cost more.
   */
  jobBackoffMsMin: 10_000,
  jobBackoffMsMax: 360_000,
  /** Missed runs of a cron job that are counted one by one; more are reported in an event. */
  missedRunCountMax: 100,
  /**
   * Pause between two discoveries on behalf of unknown kinds. Higher: a new kind scales later.
   * Lower: more requests for references to kinds that do not exist.
   */
  discoveryPauseMs: 30_000,
  /**
   * How long an eviction counts as a disruption while its pod is not being deleted. Higher:
   * evictions that failed block others for longer. Lower: slow deletions allow more disruptions
   * than wanted.
   */
  evictedPodDeletionMsMax: 120_000,
  /**
   * Pause before a budget that could not be computed is computed again without a change. Higher:
   * scales of custom resources are noticed later. Lower: more requests.
   */
  disruptionRetryMs: 60_000,
  /** Length of a revision history annotation, in characters. */
  revisionHistoryCharsMax: 2_000,
  /** Addresses in one Endpoints object before it is marked as over capacity. */
  endpointAddressCountMax: 1_000,
  /** Objects in the garbage collector's graph. */
  graphNodeCountMax: 2_000_000,
  /**
   * Time for an aggregated API server to list its objects before garbage is collected without them.
   * Higher: a server that is down delays the collection. Lower: an owner that is deleted in the
   * foreground may not wait for dependents of a slow server.
   */
  foreignSyncTimeoutMs: 10_000,
  /**
   * Period of the comparison of the wall clock with the monotonic clock, and the smallest
   * difference that is reported as a jump. Higher: jumps are reported later, and smaller ones not
   * at all. Lower: the corrections of time synchronization are reported.
   */
  clockCheckPeriodMs: 10_000,
  clockJumpMsMin: 30_000,
  /** Time for caches to fill at start. */
  syncTimeoutMs: 120_000,
  /** Resources whose objects are deleted concurrently while a namespace is being deleted. */
  namespaceDeletionConcurrencyMax: 8,
  /** Objects in one page of a recount; Higher: more memory. Lower: more requests. */
  quotaPageObjectsMax: 500,
  /** Listeners to the end of the controller manager; more would be a leak. */
  stopListenerCountMax: 1_000,
  /**
   * Requested lifetime of the tokens of controllers. Higher: a stolen token works longer. Lower:
   * more requests.
   */
  tokenLifetimeSeconds: 3_600,
  /**
   * First and longest pause before the renewal of a token is retried. Higher: a recovery is noticed
   * later. Lower: more load on a failing API server.
   */
  tokenRetryMsMin: 200,
  tokenRetryMsMax: 30_000,
  /**
   * Attempts to obtain the first token of a controller. Higher: a missing permission is reported
   * later. Lower: the start fails while the initial roles are missing.
   */
  tokenAttemptCountMax: 12,
  /**
   * Attempts to list a new token secret in its account while others change the account. Higher: the
   * secret may stay unlisted for longer. Lower: it is deleted and replaced more often.
   */
  tokenListingAttemptCountMax: 5,
  /**
   * Age below which a rejected token is not renewed. Higher: a controller whose account was deleted
   * stalls longer. Lower: more requests while tokens are rejected for another reason.
   */
  tokenRejectionPauseMs: 5_000,
  /**
   * Keys of each state of a queue that the debug view names. Higher: larger responses. Lower: fewer
   * keys of a long queue are named.
   */
  viewedKeyCountMax: 100,
} as const;
