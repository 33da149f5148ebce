/**
 * The way to a server: which one, as whom, in which namespace, and in which dialect. The dialect is
 * found out before anything that depends on it is used: from the names of the groups that are served.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type RawServer, RestClient, rawServers, restClientOptions } from '@orch/client';
import {
  type ConnectionConfig,
  connectionOf,
  Dialect,
  type DialectName,
  dialectNames,
  orchVersion,
  parseDuration,
  readKubeconfig,
  selectDialect,
  ValueError,
} from '@orch/component';
import { Catalog, type GroupList } from './catalog.js';
import { CliError, UsageError } from './errors.js';
import type { GlobalOptions } from './global-options.js';

export interface Session {
  readonly client: RestClient;
  readonly catalog: Catalog;
  readonly namespace: string;
  /** A namespace was asked for with `-n`. */
  readonly namespaceGiven: boolean;
  readonly server: string;
  /** For connections that are no requests. Asked anew for each, as tokens are replaced. */
  rawServers(): RawServer[];
}

/** Requests that are not streams; `--request-timeout` changes it. */
const defaultRequestTimeoutMs = 30_000;

export async function openSession(globals: GlobalOptions): Promise<Session> {
  const connection = connectionFrom(globals);
  const way = { ...restClientOptions(connection), userAgent: `orchctl/${orchVersion}` };
  const client = new RestClient({
    ...way,
    qps: 0,
    requestTimeoutMs: requestTimeoutMs(globals.requestTimeout),
  });
  try {
    const groups = (await client.request('GET', '/apis')).json<GroupList>();
    selectDialect(dialectOf(groups));
    return {
      client,
      catalog: new Catalog(client, groups),
      namespace: globals.namespace ?? connection.namespace ?? 'default',
      namespaceGiven: globals.namespace !== undefined,
      server: connection.server,
      rawServers: () => rawServers(way),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** The dialect under whose domain most groups are named; groups of others may have any name. */
export function dialectOf(list: GroupList): DialectName {
  const countOf = (name: DialectName) => {
    const suffix = `.${new Dialect(name).groupDomain}`;
    return (list.groups ?? []).filter((group) => group.name.endsWith(suffix)).length;
  };
  return [...dialectNames].sort((a, b) => countOf(b) - countOf(a))[0]!;
}

/** The file that is used: the flag, `$KUBECONFIG`, the clone's own cluster, the user's. */
export function kubeconfigPath(globals: GlobalOptions): string | undefined {
  if (globals.kubeconfig) return globals.kubeconfig;
  // Several files in one variable are for other tools; the first that exists counts.
  const fromEnvironment = process.env.KUBECONFIG?.split(':').filter((path) => path !== '') ?? [];
  if (fromEnvironment.length > 0) {
    return fromEnvironment.find((path) => existsSync(path)) ?? fromEnvironment[0];
  }
  return [join('.orch', 'kubeconfig'), join(homedir(), '.orch', 'config')].find((path) =>
    existsSync(path),
  );
}

function connectionFrom(globals: GlobalOptions): ConnectionConfig {
  const path = kubeconfigPath(globals);
  const { server, token, certificateAuthority, insecureSkipTlsVerify } = globals;
  if (!path && !server) {
    throw new CliError(
      'no cluster is configured: start one with `npm run up`, or name a file with --kubeconfig',
    );
  }
  const fromFile = path && usable(path, globals) ? connectionOf(path, globals.context) : undefined;
  if (fromFile?.exec && !token) {
    throw new CliError(
      `the user of ${path} has a credential plug-in (${fromFile.exec.command}), which orchctl does not run: give --token`,
    );
  }
  return {
    ...(fromFile ?? { server: '' }),
    ...(server && { server: serverUrl(server), servers: undefined }),
    ...(token && { token, tokenFile: undefined }),
    ...(certificateAuthority && { certificateAuthorityPem: readPem(certificateAuthority) }),
    ...(insecureSkipTlsVerify && { insecureSkipTlsVerify }),
  };
}

/** With `--server` the file may lack a current context; what it has is used all the same. */
function usable(path: string, globals: GlobalOptions): boolean {
  if (!globals.server || globals.context) return true;
  return existsSync(path) && readKubeconfig(path)['current-context'] !== '';
}

function serverUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '');
  throw new UsageError(`--server: want a URL such as https://127.0.0.1:6443, got "${text}"`);
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--certificate-authority: ${cause}`);
  }
}

function requestTimeoutMs(text: string | undefined): number {
  if (text === undefined || text === '0') return defaultRequestTimeoutMs;
  return durationMs('--request-timeout', text);
}

/** A duration such as `30s`; a bare number means seconds. */
export function durationMs(flag: string, text: string): number {
  try {
    return parseDuration(/^-?\d+$/.test(text) ? `${text}s` : text);
  } catch (error) {
    if (error instanceof ValueError) throw new UsageError(`${flag}: ${error.message}`);
    throw error;
  }
}
