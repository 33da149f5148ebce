/**
 * A cluster's data directory and the `cluster.json` in it: what was settled when the cluster was created
 * and is kept for the next start. A directory that holds anything else is refused and left alone.
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
import { type DialectName, writeFileAtomic } from '@orch/component';
import { type AddressBlock, addressBlock } from './address-block.js';
import { claimIndex, claimsDirectory, type IndexClaims, renewIndex } from './cluster-index.js';
import { replicaCountMax } from './limits.js';
import { UserError } from './user-error.js';

export interface ClusterSettings {
  readonly formatVersion: typeof formatVersion;
  readonly dialect: DialectName;
  /** Of the first API server. */
  readonly port: number;
  readonly nodeCount: number;
  /** API servers, each a voting member from the first start on. */
  readonly replicaCount: number;
  /** Tells the replicas of this cluster from those of any other. */
  readonly clusterToken: string;
  /** Whether all API servers have been ready once: from then on an empty directory is not a first start. */
  readonly isFounded: boolean;
  /** Whether it was created with root's rights: service addresses differ. */
  readonly withRoot: boolean;
  readonly addresses: AddressBlock;
}

/** What the command line asks for; the rest is kept or default. */
export interface WantedSettings {
  readonly dialect?: DialectName;
  readonly port?: number;
  readonly nodeCount?: number;
  readonly replicaCount?: number;
}

export const defaultPort = 6443;
const defaultNodeCount = 2;
export const replicaCounts = [1, 3, replicaCountMax] as const;
const defaultReplicaCount = 3;
/** Of `cluster.json` and of what lies beside it. Version 1 had one API server and no replication. */
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

/** Whether a cluster was created here, by any version. */
export function hasCluster(dataDirectory: string): boolean {
  return existsSync(clusterPaths(dataDirectory).settings);
}

/** The kept settings, undefined where no cluster was created. */
export function readSettings(dataDirectory: string): ClusterSettings | undefined {
  const parsed = parseSettings(dataDirectory);
  if (!parsed || parsed.formatVersion === formatVersion) return parsed as ClusterSettings;
  if (parsed.formatVersion !== 1) {
    const { settings } = clusterPaths(dataDirectory);
    throw new UserError(`${settings} was written by another version of orchctl; use that one`);
  }
  throw new UserError(
    `the cluster in ${dataDirectory} was made by an earlier version, whose data this one cannot read: choose another --data-dir, or remove the directory to begin anew; to keep objects, start it once more with the version that made it, save them with \`orchctl get ... -o yaml\`, and apply them to the new cluster`,
  );
}

function parseSettings(dataDirectory: string): StoredSettings | undefined {
  const { settings } = clusterPaths(dataDirectory);
  if (!hasCluster(dataDirectory)) return undefined;
  try {
    return JSON.parse(readFileSync(settings, 'utf8')) as StoredSettings;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new UserError(`cannot read ${settings}: ${cause}`);
  }
}

/** As any version has written them. */
type StoredSettings = Omit<Partial<ClusterSettings>, 'formatVersion'> & {
  readonly formatVersion?: number;
};

/** Throws `UserError` unless the directory is a cluster's, or empty, or can be made. Changes nothing. */
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
    const shown = entries.slice(0, 3).join(', ');
    throw new UserError(
      `${dataDirectory} holds something else (${shown}); choose an empty or new directory with --data-dir`,
    );
  }
}

function checkWritable(existing: string, dataDirectory: string): void {
  try {
    if (!statSync(existing).isDirectory()) throw new Error(`${existing} is not a directory`);
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new UserError(
      `cannot write to ${dataDirectory} (${cause}); choose another with --data-dir`,
    );
  }
}

/** Throws `UserError` when a kept cluster speaks another dialect than is asked for. */
export function checkDialect(
  dataDirectory: string,
  kept: ClusterSettings | undefined,
  wanted: WantedSettings,
): void {
  if (!kept || !wanted.dialect || kept.dialect === wanted.dialect) return;
  throw new UserError(
    `the cluster in ${dataDirectory} was created with --dialect ${kept.dialect} and keeps it; leave --dialect ${wanted.dialect} out, or choose another --data-dir`,
  );
}

/** All API servers are ready for the first time. */
export function noteFounded(dataDirectory: string): void {
  const settings = readSettings(dataDirectory);
  if (settings && !settings.isFounded) {
    writeSettings(dataDirectory, { ...settings, isFounded: true });
  }
}

function writeSettings(dataDirectory: string, settings: ClusterSettings): void {
  const { settings: path } = clusterPaths(dataDirectory);
  writeFileAtomic(path, `${JSON.stringify(settings, null, 2)}\n`, 0o600);
}

/** Throws `UserError` when a kept cluster has another number of API servers than is asked for. */
export function checkReplicas(
  dataDirectory: string,
  kept: ClusterSettings | undefined,
  wanted: WantedSettings,
): void {
  const { replicaCount } = wanted;
  if (!kept || replicaCount === undefined || kept.replicaCount === replicaCount) return;
  throw new UserError(
    `the cluster in ${dataDirectory} was created with --replicas ${kept.replicaCount}; leave --replicas ${replicaCount} out. Members come and go by \`orchctl cluster add-member\` and \`orchctl cluster remove-member\` while it runs; for another number from the start, choose another --data-dir`,
  );
}

const claims: IndexClaims = {
  directory: process.env.ORCH_CLUSTERS_DIR ?? claimsDirectory,
  indexOf: (dataDirectory) => parseSettings(dataDirectory)?.addresses?.index,
};

/** Creates the directory, or takes it up again; writes and gives back the settings that hold now. */
export async function settle(
  dataDirectory: string,
  kept: ClusterSettings | undefined,
  wanted: WantedSettings,
): Promise<ClusterSettings> {
  const withRoot = kept?.withRoot ?? process.getuid?.() === 0;
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  if (kept) renewIndex(claims, dataDirectory, kept.addresses.index);
  const index = kept?.addresses.index ?? (await claimIndex(claims, dataDirectory, withRoot));
  const settings: ClusterSettings = {
    formatVersion,
    dialect: kept?.dialect ?? wanted.dialect ?? 'orch',
    port: wanted.port ?? kept?.port ?? defaultPort,
    nodeCount: wanted.nodeCount ?? kept?.nodeCount ?? defaultNodeCount,
    replicaCount: kept?.replicaCount ?? wanted.replicaCount ?? defaultReplicaCount,
    clusterToken: kept?.clusterToken ?? randomBytes(8).toString('hex'),
    isFounded: kept?.isFounded ?? false,
    withRoot,
    addresses: kept?.addresses ?? addressBlock(index, withRoot),
  };
  const paths = clusterPaths(dataDirectory);
  writeSettings(dataDirectory, settings);
  for (const path of [paths.pki, paths.components, paths.logs, paths.run]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  return settings;
}
