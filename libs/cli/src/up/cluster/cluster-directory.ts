/**
 * The data directory of a cluster and its `cluster.json`: the configuration of the cluster, stored
 * for the next start. Rejects a directory with other content and leaves it unchanged.
 */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type DialectName, errorMessage, writeFileAtomic } from '@orch/component';
import { type AddressBlock, addressBlock } from './address-block.js';
import { claimIndex, claimsDirectory, type IndexClaims, renewIndex } from './cluster-index.js';
import { replicaCountMax } from './limits.js';
import { UserError } from './user-error.js';

export interface ClusterConfig {
  readonly formatVersion: typeof formatVersion;
  readonly dialect: DialectName;
  /** Port of the first API server. */
  readonly port: number;
  readonly nodeCount: number;
  /** Number of API servers, each a voting member from the first start on. */
  readonly replicaCount: number;
  /** Distinguishes the replicas of this cluster from those of other clusters. */
  readonly clusterToken: string;
  /**
   * Whether all API servers have been ready once. After that, an empty data directory of a replica
   * means that its data was lost.
   */
  readonly isFounded: boolean;
  /** Whether the cluster was created with root's rights, which decide its service addresses. */
  readonly withRoot: boolean;
  readonly addresses: AddressBlock;
}

/** The settings of the command line. The others are the stored ones or the defaults. */
export interface RequestedConfig {
  readonly dialect?: DialectName;
  readonly port?: number;
  readonly nodeCount?: number;
  readonly replicaCount?: number;
}

export const defaultPort = 6443;
const defaultNodeCount = 2;
export const replicaCounts = [1, 3, replicaCountMax] as const;
const defaultReplicaCount = 3;
/** Format of the data directory. Version 1 had one API server and no replication. */
const formatVersion = 2;

export function clusterPaths(dataDirectory: string) {
  return {
    settings: join(dataDirectory, 'cluster.json'),
    pki: join(dataDirectory, 'pki'),
    authorityCertificate: join(dataDirectory, 'ca.crt'),
    adminToken: join(dataDirectory, 'admin.token'),
    tokens: join(dataDirectory, 'tokens.csv'),
    kubeconfig: join(dataDirectory, 'kubeconfig'),
    components: join(dataDirectory, 'components'),
    logs: join(dataDirectory, 'logs'),
    run: join(dataDirectory, 'run'),
  };
}

/** Whether any version of orchctl has created a cluster here. */
export function hasCluster(dataDirectory: string): boolean {
  return existsSync(clusterPaths(dataDirectory).settings);
}

/** The stored configuration. Undefined if there is no cluster. */
export function readSettings(dataDirectory: string): ClusterConfig | undefined {
  const parsed = parseSettings(dataDirectory);
  if (!parsed || parsed.formatVersion === formatVersion) return parsed as ClusterConfig;
  if (parsed.formatVersion !== 1) {
    const { settings } = clusterPaths(dataDirectory);
    throw new UserError(`${settings} was written by another version of orchctl; use that one`);
  }
  throw new UserError(
    `the cluster in ${dataDirectory} was created by an earlier version, whose data this one cannot read: choose another --data-dir, or remove the directory; to keep objects, start the cluster with the version that created it, save them with \`orchctl get ... -o yaml\`, and apply them to the new cluster`,
  );
}

function parseSettings(dataDirectory: string): StoredConfig | undefined {
  const { settings } = clusterPaths(dataDirectory);
  if (!hasCluster(dataDirectory)) return undefined;
  try {
    const stored: StoredConfig = JSON.parse(readFileSync(settings, 'utf8'));
    return stored;
  } catch (error) {
    const cause = errorMessage(error);
    throw new UserError(`cannot read ${settings}: ${cause}`);
  }
}

/** The configuration as written by any version. */
type StoredConfig = Omit<Partial<ClusterConfig>, 'formatVersion'> & {
  readonly formatVersion?: number;
};

/**
 * Throws `UserError` unless the directory is that of a cluster, is empty or can be created. Changes
 * nothing.
 */
export function checkDirectory(dataDirectory: string): void {
  if (!existsSync(dataDirectory)) {
    let parent = dirname(dataDirectory);
    while (!existsSync(parent)) parent = dirname(parent);
    checkWritable(parent, dataDirectory);
    return;
  }
  if (!statSync(dataDirectory).isDirectory()) {
    throw new UserError(`${dataDirectory} is not a directory; choose another with --data-dir`);
  }
  checkWritable(dataDirectory, dataDirectory);
  const entries = readdirSync(dataDirectory);
  if (entries.length > 0 && !entries.includes('cluster.json')) {
    const examples = entries.slice(0, 3).join(', ');
    throw new UserError(
      `${dataDirectory} contains other files (${examples}); choose an empty or new directory with --data-dir`,
    );
  }
}

function checkWritable(existing: string, dataDirectory: string): void {
  try {
    if (!statSync(existing).isDirectory()) throw new Error(`${existing} is not a directory`);
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    const cause = errorMessage(error);
    throw new UserError(
      `cannot write to ${dataDirectory} (${cause}); choose another with --data-dir`,
    );
  }
}

/** Throws `UserError` if the stored cluster has another dialect than the requested one. */
export function checkDialect(
  dataDirectory: string,
  stored: ClusterConfig | undefined,
  requested: RequestedConfig,
): void {
  if (!stored || !requested.dialect || stored.dialect === requested.dialect) return;
  throw new UserError(
    `the cluster in ${dataDirectory} was created with --dialect ${stored.dialect} and cannot change it; omit --dialect ${requested.dialect}, or choose another --data-dir`,
  );
}

/** Records that all API servers have been ready. */
export function noteFounded(dataDirectory: string): void {
  const settings = readSettings(dataDirectory);
  if (settings && !settings.isFounded) {
    writeSettings(dataDirectory, { ...settings, isFounded: true });
  }
}

function writeSettings(dataDirectory: string, settings: ClusterConfig): void {
  const { settings: path } = clusterPaths(dataDirectory);
  writeFileAtomic(path, `${JSON.stringify(settings, null, 2)}\n`, 0o600);
}

/**
 * Throws `UserError` if the stored cluster has another number of API servers than the requested
 * one.
 */
export function checkReplicas(
  dataDirectory: string,
  stored: ClusterConfig | undefined,
  requested: RequestedConfig,
): void {
  const { replicaCount } = requested;
  if (!stored || replicaCount === undefined || stored.replicaCount === replicaCount) return;
  throw new UserError(
    `the cluster in ${dataDirectory} was created with --replicas ${stored.replicaCount}; omit --replicas ${replicaCount}. Add and remove members of the running cluster with \`orchctl cluster add-member\` and \`orchctl cluster remove-member\`, or choose another --data-dir`,
  );
}

const claims: IndexClaims = {
  directory: process.env.ORCH_CLUSTERS_DIR ?? claimsDirectory,
  indexOf: (dataDirectory) => parseSettings(dataDirectory)?.addresses?.index,
};

/** Creates the directory or reuses it. Stores and returns the configuration. */
export async function settle(
  dataDirectory: string,
  stored: ClusterConfig | undefined,
  requested: RequestedConfig,
): Promise<ClusterConfig> {
  const withRoot = stored?.withRoot ?? process.getuid?.() === 0;
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  if (stored) renewIndex(claims, dataDirectory, stored.addresses.index);
  const index = stored?.addresses.index ?? (await claimIndex(claims, dataDirectory, withRoot));
  const settings: ClusterConfig = {
    formatVersion,
    dialect: stored?.dialect ?? requested.dialect ?? 'orch',
    port: requested.port ?? stored?.port ?? defaultPort,
    nodeCount: requested.nodeCount ?? stored?.nodeCount ?? defaultNodeCount,
    replicaCount: stored?.replicaCount ?? requested.replicaCount ?? defaultReplicaCount,
    clusterToken: stored?.clusterToken ?? randomBytes(8).toString('hex'),
    isFounded: stored?.isFounded ?? false,
    withRoot,
    addresses: stored?.addresses ?? addressBlock(index, withRoot),
  };
  const paths = clusterPaths(dataDirectory);
  writeSettings(dataDirectory, settings);
  for (const path of [paths.pki, paths.components, paths.logs, paths.run]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  return settings;
}
