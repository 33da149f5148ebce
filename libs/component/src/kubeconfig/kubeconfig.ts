/**
 * The kubeconfig file: clusters, users and contexts, with the address of the server and the
 * credentials. Reads and writes the YAML format of upstream clients; a rewrite preserves unknown
 * fields. The command line tool runs credential plug-ins.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { errorMessage } from '../errors/thrown.js';
import { writeFileAtomic } from '../files/write-file-atomic.js';
import { kubeconfigBytesMax, kubeconfigEndpointCountMax } from '../limits.js';
import { formError } from './kubeconfig-form.js';

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
 * Extension of a cluster entry that lists all its API servers, `{servers: [url, ...]}`. Clients
 * that do not recognise it use only `server`.
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

/** The credentials of a user. PEM files are loaded. */
export interface UserCredentials {
  readonly token?: string;
  /** Read again when the token is rejected or old, because the file may be rotated. */
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly clientCertificatePem?: string;
  readonly clientKeyPem?: string;
  readonly impersonateUser?: string;
  readonly impersonateGroups?: readonly string[];
  readonly exec?: KubeconfigExec;
}

/** The connection settings of one context. PEM files are loaded; URLs have no trailing slash. */
export interface ConnectionConfig extends UserCredentials {
  readonly server: string;
  /** Interchangeable servers, including `server`; only `server` by default. */
  readonly servers?: readonly string[];
  readonly namespace?: string;
  readonly certificateAuthorityPem?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
}

/**
 * The kubeconfig is invalid or unreadable; the message contains the file, the cause and the remedy.
 */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
  readonly code = 'kubeconfig-invalid';
}

/** Reads a file and validates its schema. Throws `KubeconfigError`. */
export function readKubeconfig(path: string): Kubeconfig {
  return parseKubeconfig(path, textOf(path));
}

function textOf(path: string): string {
  try {
    if (statSync(path).size > kubeconfigBytesMax) {
      throw new KubeconfigError(`kubeconfig ${path} is larger than ${kubeconfigBytesMax} bytes`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof KubeconfigError) throw error;
    throw new KubeconfigError(`cannot read kubeconfig ${path}: ${errorMessage(error)}`);
  }
}

function parseKubeconfig(path: string, text: string): Kubeconfig {
  let parsed: unknown;
  try {
    // A field without a value counts as absent.
    parsed = parse(text, (_key, value: unknown) => value ?? undefined);
  } catch (error) {
    throw new KubeconfigError(`cannot read kubeconfig ${path}: ${errorMessage(error)}`);
  }
  if (typeof parsed !== 'object' || parsed === null) {
    throw new KubeconfigError(`kubeconfig ${path} contains no configuration`);
  }
  const invalid = formError(parsed);
  if (invalid !== undefined) throw new KubeconfigError(`kubeconfig ${path}: ${invalid}`);
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

/**
 * Returns the connection settings of a context, by default the current one, with referenced files
 * loaded. Paths are relative to the kubeconfig. Throws `KubeconfigError`.
 */
export function connectionOf(path: string, contextName?: string): ConnectionConfig {
  return connectionFrom(path, readKubeconfig(path), contextName);
}

/** A kubeconfig that is read repeatedly, and parsed only when it has changed. */
export class FollowedKubeconfig {
  private text = '';
  private config: Kubeconfig | undefined;

  constructor(private readonly path: string) {}

  /** As `connectionOf`, of the current context. */
  connection(): ConnectionConfig {
    const text = textOf(this.path);
    if (!this.config || text !== this.text) this.config = parseKubeconfig(this.path, text);
    this.text = text;
    return connectionFrom(this.path, this.config);
  }
}

function connectionFrom(path: string, config: Kubeconfig, contextName?: string): ConnectionConfig {
  const name = contextName ?? config['current-context'];
  const context = config.contexts.find((entry) => entry.name === name)?.context;
  if (!context) {
    const existing = config.contexts.map((entry) => entry.name).join(', ') || 'none';
    throw new KubeconfigError(
      `kubeconfig ${path} has no context ${JSON.stringify(name)}; existing contexts: ${existing}`,
    );
  }
  const cluster = config.clusters.find((entry) => entry.name === context.cluster)?.cluster;
  if (!cluster?.server) {
    throw new KubeconfigError(`kubeconfig ${path} has no server for cluster ${context.cluster}`);
  }
  const user = config.users.find((entry) => entry.name === context.user)?.user ?? {};
  const server = cluster.server.replace(/\/+$/, '');
  return {
    server,
    servers: [...new Set([server, ...endpointsOf(path, cluster)])],
    namespace: context.namespace,
    certificateAuthorityPem: pemOf(
      path,
      cluster['certificate-authority-data'],
      cluster['certificate-authority'],
    ),
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'],
    tlsServerName: cluster['tls-server-name'],
    ...credentialsOf(path, user),
  };
}

/**
 * Returns the credentials of a user, with referenced files loaded. `path`: of the kubeconfig.
 * Throws `KubeconfigError`.
 */
export function credentialsOf(path: string, user: KubeconfigUser): UserCredentials {
  return {
    token: user.token ?? (user.tokenFile && readReferenced(path, user.tokenFile).trim()),
    tokenFile: user.tokenFile && resolve(dirname(path), user.tokenFile),
    username: user.username,
    password: user.password,
    clientCertificatePem: pemOf(path, user['client-certificate-data'], user['client-certificate']),
    clientKeyPem: pemOf(path, user['client-key-data'], user['client-key']),
    impersonateUser: user.as,
    impersonateGroups: user['as-groups'],
    exec: user.exec,
  };
}

function pemOf(path: string, data: string | undefined, file: string | undefined) {
  return data !== undefined
    ? Buffer.from(data, 'base64').toString('utf8')
    : file && readReferenced(path, file);
}

/** Returns the servers of the endpoints extension; none without the extension. */
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
        `kubeconfig ${path}: the extension "${endpointsExtension}" contains ${JSON.stringify(server)}, which is not an http or https URL`,
      );
    }
    return server.replace(/\/+$/, '');
  });
}

function readReferenced(kubeconfigPath: string, file: string): string {
  const path = resolve(dirname(kubeconfigPath), file);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new KubeconfigError(
      `kubeconfig ${kubeconfigPath}: cannot read ${path}: ${errorMessage(error)}`,
    );
  }
}

/** Writes the file with mode 0600. */
export function writeKubeconfig(path: string, config: Kubeconfig): void {
  // Other tools read YAML 1.1, in which `n` without quotes is no text.
  writeFileAtomic(path, stringify(config, { version: '1.1' }), 0o600);
}

export interface SingleKubeconfigOptions {
  readonly clusterName: string;
  readonly userName: string;
  /** All API servers, at least one; upstream clients use the first. */
  readonly servers: readonly string[];
  readonly certificateAuthorityPem: string;
  readonly token?: string;
  readonly clientCertificatePem?: string;
  readonly clientKeyPem?: string;
}

/** Returns a configuration with one cluster, one user and one context; all data is embedded. */
export function singleKubeconfig(options: SingleKubeconfigOptions): Kubeconfig {
  const { clusterName, userName } = options;
  const user: KubeconfigUser = {};
  if (options.token !== undefined) user.token = options.token;
  if (options.clientCertificatePem !== undefined && options.clientKeyPem !== undefined) {
    user['client-certificate-data'] = base64(options.clientCertificatePem);
    user['client-key-data'] = base64(options.clientKeyPem);
  }
  const { servers } = options;
  const cluster: KubeconfigCluster = {
    server: servers[0] ?? '',
    'certificate-authority-data': base64(options.certificateAuthorityPem),
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
