/**
 * The client configuration file: clusters, users and contexts, and how to reach and prove oneself to a
 * server. Reads and writes the YAML form all clients share; unknown fields are kept on rewrite. Running
 * credential plug-ins is left to the command line tool.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { writeFileAtomic } from '../files/write-file-atomic.js';
import { kubeconfigBytesMax, kubeconfigEndpointCountMax } from '../limits.js';
import { formFault } from './kubeconfig-form.js';

export interface Kubeconfig {
  apiVersion: string;
  kind: string;
  clusters: NamedEntry<'cluster', KubeconfigCluster>[];
  users: NamedEntry<'user', KubeconfigUser>[];
  contexts: NamedEntry<'context', KubeconfigContext>[];
  'current-context': string;
  preferences?: Record<string, unknown>;
}

type NamedEntry<Key extends string, Value> = { name: string } & { [K in Key]: Value };

export interface KubeconfigCluster {
  server: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
  extensions?: { name: string; extension?: unknown }[];
}

/**
 * Extension of a cluster entry that names all its API servers, `{servers: [url, ...]}`. Clients that do not
 * know it use `server` alone.
 */
const endpointsExtension = 'endpoints';

export interface KubeconfigUser {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  as?: string;
  'as-groups'?: string[];
  exec?: KubeconfigExec;
}

export interface KubeconfigExec {
  apiVersion: string;
  command: string;
  args?: string[];
  env?: { name: string; value: string }[];
}

export interface KubeconfigContext {
  cluster: string;
  user: string;
  namespace?: string;
}

/** Everything a client needs: PEM texts are loaded, the server has no trailing slash. */
export interface ConnectionConfig {
  readonly server: string;
  /** Servers that stand in for each other, `server` among them; only that one when left out. */
  readonly servers?: readonly string[];
  readonly namespace?: string;
  readonly certificateAuthorityPem?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  readonly token?: string;
  /** Read again when the token is refused or old: the file may be rotated. */
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly clientCertificatePem?: string;
  readonly clientKeyPem?: string;
  readonly impersonateUser?: string;
  readonly impersonateGroups?: readonly string[];
  readonly exec?: KubeconfigExec;
}

/** The file cannot be used; the message names file, cause and cure. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
  readonly code = 'kubeconfig-invalid';
}

/** Reads and checks the form of a file. Throws `KubeconfigError`. */
export function readKubeconfig(path: string): Kubeconfig {
  let parsed: unknown;
  try {
    if (statSync(path).size > kubeconfigBytesMax) {
      throw new KubeconfigError(`kubeconfig ${path} is larger than ${kubeconfigBytesMax} bytes`);
    }
    // A member without a value is as good as absent.
    parsed = parse(readFileSync(path, 'utf8'), (_key, value: unknown) => value ?? undefined);
  } catch (error) {
    if (error instanceof KubeconfigError) throw error;
    const cause = error instanceof Error ? error.message : String(error);
    throw new KubeconfigError(`cannot read kubeconfig ${path}: ${cause}`);
  }
  if (typeof parsed !== 'object' || parsed === null) {
    throw new KubeconfigError(`kubeconfig ${path} holds no configuration`);
  }
  const fault = formFault(parsed);
  if (fault !== undefined) throw new KubeconfigError(`kubeconfig ${path}: ${fault}`);
  const config = parsed as Partial<Kubeconfig>;
  return {
    ...config,
    apiVersion: config.apiVersion ?? 'v1',
    kind: config.kind ?? 'Config',
    clusters: config.clusters ?? [],
    users: config.users ?? [],
    contexts: config.contexts ?? [],
    'current-context': config['current-context'] ?? '',
  };
}

/** What one context of a file says, with referenced files read. Relative paths start at the file. */
export function connectionOf(path: string, contextName?: string): ConnectionConfig {
  const config = readKubeconfig(path);
  const name = contextName ?? config['current-context'];
  const context = config.contexts.find((entry) => entry.name === name)?.context;
  if (!context) {
    const known = config.contexts.map((entry) => entry.name).join(', ') || 'none';
    throw new KubeconfigError(
      `kubeconfig ${path} has no context ${JSON.stringify(name)}, has: ${known}`,
    );
  }
  const cluster = config.clusters.find((entry) => entry.name === context.cluster)?.cluster;
  if (!cluster?.server) {
    throw new KubeconfigError(`kubeconfig ${path} has no server for cluster ${context.cluster}`);
  }
  const user = config.users.find((entry) => entry.name === context.user)?.user ?? {};
  const pem = (data: string | undefined, file: string | undefined) =>
    data !== undefined
      ? Buffer.from(data, 'base64').toString('utf8')
      : file && referenced(path, file);
  const server = cluster.server.replace(/\/+$/, '');
  const connection: ConnectionConfig = {
    server,
    servers: [...new Set([server, ...endpointsOf(path, cluster)])],
    namespace: context.namespace,
    certificateAuthorityPem: pem(
      cluster['certificate-authority-data'],
      cluster['certificate-authority'],
    ),
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'],
    tlsServerName: cluster['tls-server-name'],
    token: user.token ?? (user.tokenFile && referenced(path, user.tokenFile).trim()),
    tokenFile: user.tokenFile && resolve(dirname(path), user.tokenFile),
    username: user.username,
    password: user.password,
    clientCertificatePem: pem(user['client-certificate-data'], user['client-certificate']),
    clientKeyPem: pem(user['client-key-data'], user['client-key']),
    impersonateUser: user.as,
    impersonateGroups: user['as-groups'],
    exec: user.exec,
  };
  return connection;
}

/** The servers of the endpoints extension; none when there is no such extension. */
function endpointsOf(path: string, { extensions }: KubeconfigCluster): string[] {
  const entry = extensions?.find(({ name }) => name === endpointsExtension);
  if (!entry) return [];
  const { servers } = (entry.extension ?? {}) as { servers?: unknown };
  if (!Array.isArray(servers) || servers.length > kubeconfigEndpointCountMax) {
    throw new KubeconfigError(
      `kubeconfig ${path}: the extension "${endpointsExtension}" must have a list "servers" of at most ${kubeconfigEndpointCountMax} URLs`,
    );
  }
  return servers.map((server: unknown) => {
    if (typeof server !== 'string' || !/^https?:\/\//.test(server) || !URL.canParse(server)) {
      throw new KubeconfigError(
        `kubeconfig ${path}: the extension "${endpointsExtension}" names ${JSON.stringify(server)}, which is no http or https URL`,
      );
    }
    return server.replace(/\/+$/, '');
  });
}

function referenced(kubeconfigPath: string, file: string): string {
  const path = resolve(dirname(kubeconfigPath), file);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new KubeconfigError(`kubeconfig ${kubeconfigPath} names ${path}: ${cause}`);
  }
}

/** Writes a file that only its owner may read. */
export function writeKubeconfig(path: string, config: Kubeconfig): void {
  writeFileAtomic(path, stringify(config), 0o600);
}

export interface SingleKubeconfig {
  readonly clusterName: string;
  readonly userName: string;
  /** All API servers, at least one; the first is the one that other tools use. */
  readonly servers: readonly string[];
  readonly certificateAuthorityPem: string;
  readonly token?: string;
  readonly clientCertificatePem?: string;
  readonly clientKeyPem?: string;
}

/** A configuration with one cluster, one user and one current context; everything is embedded. */
export function singleKubeconfig(parts: SingleKubeconfig): Kubeconfig {
  const { clusterName, userName } = parts;
  const user: KubeconfigUser = {};
  if (parts.token !== undefined) user.token = parts.token;
  if (parts.clientCertificatePem !== undefined && parts.clientKeyPem !== undefined) {
    user['client-certificate-data'] = base64(parts.clientCertificatePem);
    user['client-key-data'] = base64(parts.clientKeyPem);
  }
  const { servers } = parts;
  const cluster: KubeconfigCluster = {
    server: servers[0] ?? '',
    'certificate-authority-data': base64(parts.certificateAuthorityPem),
  };
  if (servers.length > 1) {
    cluster.extensions = [{ name: endpointsExtension, extension: { servers } }];
  }
  const contextName = `${userName}@${clusterName}`;
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: clusterName, cluster }],
    users: [{ name: userName, user }],
    contexts: [{ name: contextName, context: { cluster: clusterName, user: userName } }],
    'current-context': contextName,
  };
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
