/**
 * Opens the store: the replica of this server with the operations on the cluster of replicas, or an
 * external store.
 */
import { ConsensusMetrics, type StorageMetrics } from '@orch/apiserver';
import { exitCodes, FatalError, type Metrics, systemClock } from '@orch/component';
import { LogError, TransportError } from '@orch/raft';
import {
  defaultStoreOptions,
  openReplicatedStore,
  type ReplicatedStoreOptions,
  StoreError,
  type VersionedStore,
} from '@orch/store';
import { ClusterOperations } from '../cluster/cluster-operations.js';
import { ReplicaFacts } from '../cluster/replica-facts.js';
import type { ProcessContext } from '../context/process-context.js';
import { clientUrl } from '../context/serving.js';
import type { ApiServerOptions } from '../options/api-server-options.js';
import { openStoreOnEtcd } from '../options/etcd-options.js';

export class OpenedStore {
  constructor(
    readonly store: VersionedStore,
    /** Undefined if the store is external. */
    readonly cluster: ClusterOperations | undefined,
    /** Updates the metrics of the replica. */
    readonly refreshMetrics: () => void,
  ) {}
}

/** Limit on the shutdown's wait for another replica to become the leader. */
const handOverTimeoutMs = 5_000;

/** Does not wait for a quorum. Rejects with FatalError. */
export async function openStore(
  context: ProcessContext,
  metrics: Metrics,
  { observer }: StorageMetrics,
): Promise<OpenedStore> {
  const { options, logger, lifecycle } = context;
  if (options.etcd.usesEtcd) {
    const store = await openStoreOnEtcd(options.etcd, {
      logger,
      lifecycle,
      observer,
      ...historyOptions(options),
    });
    return new OpenedStore(store, undefined, () => undefined);
  }
  const consensusMetrics = new ConsensusMetrics(metrics);
  let facts: ReplicaFacts | undefined;
  try {
    const { store, log } = await openReplicatedStore(replicaOptions(options), {
      clock: systemClock,
      logger,
      onFatal: (error) => lifecycle.fail(storageFailure(error)),
      observer: {
        ...observer,
        applied(entryCount, durationMs) {
          observer.applied(entryCount, durationMs);
          facts?.changed();
        },
        replaced: () => facts?.changed(),
      },
      logObserver: consensusMetrics.observer,
    });
    const reported = new ReplicaFacts({ store, log, clock: systemClock, logger });
    reported.start();
    facts = reported;
    lifecycle.onStop('store', async () => {
      reported.stop();
      await store.stop();
    });
    const cluster = new ClusterOperations(log, store, systemClock, options.requestTimeoutMs);
    return new OpenedStore(store, cluster, () => consensusMetrics.refresh(log.status()));
  } catch (error) {
    if (error instanceof StoreError || error instanceof LogError) throw storageFailure(error);
    if (error instanceof TransportError) throw new FatalError(exitCodes.failed, error.message);
    throw error;
  }
}

/** Transfers the leadership, so that clients need not wait for an election. Never rejects. */
export async function handOver(
  cluster: ClusterOperations | undefined,
  logger: ProcessContext['logger'],
): Promise<void> {
  if (!cluster?.leadsOthers()) return;
  try {
    await cluster.moveLeader(undefined, handOverTimeoutMs);
    logger.info({}, 'another replica is the leader');
  } catch (error) {
    logger.warn({ err: error }, 'stopping as the leader: an election must follow');
  }
}

function replicaOptions(options: ApiServerOptions): ReplicatedStoreOptions {
  const { consensus } = options;
  return {
    dataDirectory: options.dataDir,
    identity: {
      memberName: consensus.memberName,
      peerUrl: consensus.peerUrl,
      clientUrl: clientUrl(options),
      initialMembers: consensus.initialMembers(),
      initialState: consensus.initialClusterState,
      clusterToken: consensus.initialClusterToken,
    },
    ...(consensus.peerCertFile !== '' && {
      network: {
        listenUrl: consensus.listenPeerUrl,
        certificates: {
          certificateFile: consensus.peerCertFile,
          keyFile: consensus.peerKeyFile,
          authoritiesFile: consensus.peerTrustedCaFile,
        },
      },
    }),
    tuning: {
      heartbeatMs: consensus.heartbeatIntervalMs,
      electionMs: consensus.electionTimeoutMs,
    },
    store: { ...historyOptions(options), quotaBytes: consensus.quotaBytes },
  };
}

function historyOptions({ historyRetentionMs }: ApiServerOptions) {
  return {
    historyRetentionMs,
    compactionIntervalMs: Math.min(defaultStoreOptions.compactionIntervalMs, historyRetentionMs),
  };
}

function storageFailure(error: Error): FatalError {
  return new FatalError(exitCodes.storageFailed, error.message, { cause: error });
}
