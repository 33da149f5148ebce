/**
 * A session with a server: client, catalog and namespace. Selects the dialect from the names of the
 * served groups before anything that depends on it is used.
 */
import { type RawServer, RestClient, rawServers, restClientOptions } from '@orch/client';
import {
  Dialect,
  type DialectName,
  dialectNames,
  orchVersion,
  selectDialect,
} from '@orch/component';
import type { GlobalOptions } from '../command-line/global-options.js';
import { durationMs } from '../command-line/option-values.js';
import { Catalog, type GroupList } from './catalog.js';
import { connectionFrom } from './connection.js';

export interface Session {
  readonly client: RestClient;
  readonly catalog: Catalog;
  readonly namespace: string;
  /** Whether `-n` was given. */
  readonly namespaceGiven: boolean;
  readonly server: string;
  /**
   * The servers for upgraded connections. Called for each connection, because tokens are replaced.
   */
  rawServers(): RawServer[];
}

/** Default of `--request-timeout`, for requests that are not streams. */
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

/** The dialect whose domain most groups have. Custom groups may have any name. */
export function dialectOf(list: GroupList): DialectName {
  const countOf = (name: DialectName) => {
    const suffix = `.${new Dialect(name).groupDomain}`;
    return (list.groups ?? []).filter((group) => group.name.endsWith(suffix)).length;
  };
  return [...dialectNames].sort((a, b) => countOf(b) - countOf(a))[0]!;
}

function requestTimeoutMs(text: string | undefined): number {
  if (text === undefined || text === '0') return defaultRequestTimeoutMs;
  return durationMs('--request-timeout', text);
}
