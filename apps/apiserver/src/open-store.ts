/**
 * Opens where the objects are kept: the replica of this server, or an external store. What operators can
 * ask of the replicas comes along.
 */
import { ConsensusMetrics, StorageMetrics } from '@orch/apiserver';
import {
  type ComponentContext,
  exitCodes,
  FatalError,
  type Metrics,
  systemClock,
} from '@orch/component';
import { LogError } from '@orch/raft';
import {
  DEFAULT_STORE_OPTIONS,
  openReplicatedStore,
  type ReplicatedStoreOptions,
  StoreError,
  type VersionedStore,
} from '@orch/store';
import type { ApiServerOptions } from './api-server-options.js';
import { ClusterOperations } from './cluster/cluster-operations.js';
import { ReplicaFacts } from './cluster/replica-facts.js';
import { openStoreOnEtcd } from './etcd-options.js';

type Context = Pick<ComponentContext<ApiServerOptions>, 'options' | 'logger' | 'lifecycle'>;

export interface OpenedStore {
  readonly store: VersionedStore;
  /** Absent where the store is external. */
  readonly cluster?: ClusterOperations;
  /** Brings the metrics of the replica up to date. */
  refreshMetrics(): void;
}

/** Longest wait at the end for another replica to take the lead. */
const handOverTimeoutMs = 5_000;

/** Resolves without a quorum. Rejects with FatalError. */
export async function openStore(
  context: Context,
  metrics: Metrics,
  { observer }: StorageMetrics,
  clientUrl: string,
): Promise<OpenedStore> {
  const { options, logger, lifecycle } = context;
  if (options.etcd.usesEtcd) {
    const store = await openStoreOnEtcd(options.etcd, {
      logger,
      lifecycle,
      observer,
      ...historyOptions(options),
    });
    return { store, refreshMetrics: () => undefined };
  }
  const consensusMetrics = new ConsensusMetrics(metrics);
  try {
    const { store, log } = await openReplicatedStore(replicaOptions(options, clientUrl), {
      clock: systemClock,
      logger,
      onFatal: (error) => lifecycle.fail(storageFailure(error)),
      observer,
      logObserver: consensusMetrics.observer,
    });
    const facts = new ReplicaFacts(store, log, logger);
    facts.start();
    lifecycle.onStop('store', async () => {
      facts.stop();
      await store.stop();
    });
    const cluster = new ClusterOperations(log, store, systemClock, options.requestTimeoutMs);
    return { store, cluster, refreshMetrics: () => consensusMetrics.refresh(log.status()) };
  } catch (error) {
    if (error instanceof StoreError || error instanceof LogError) throw storageFailure(error);
    throw error;
  }
}

/** Gives the lead away, so that nobody has to wait for an election. The end goes on in any case. */
export async function handOver(
  cluster: ClusterOperations | undefined,
  logger: Context['logger'],
): Promise<void> {
  if (!cluster?.leadsOthers()) return;
  try {
    await cluster.moveLeader(undefined, handOverTimeoutMs);
    logger.info({}, 'another replica leads');
  } catch (error) {
    logger.warn({ err: error }, 'ending as the leader: an election has to follow');
  }
}

function replicaOptions(options: ApiServerOptions, clientUrl: string): ReplicatedStoreOptions {
  const { consensus } = options;
  return {
    dataDirectory: options.dataDir,
    identity: {
      memberName: consensus.memberName,
      peerUrl: consensus.peerUrl,
      clientUrl,
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
    compactionIntervalMs: Math.min(DEFAULT_STORE_OPTIONS.compactionIntervalMs, historyRetentionMs),
  };
}

function storageFailure(error: Error): FatalError {
  return new FatalError(exitCodes.storageFailed, error.message, { cause: error });
}
