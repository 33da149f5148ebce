/** The headers that a proxy forwards. Pure. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { listedValues } from '@orch/streaming';

/** Headers of one connection, not of the request. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers for the API server: the target must get neither the client's credentials nor the user
 * that it impersonates.
 */
const ownBusiness = /^(?:authorization|host|impersonate-.*)$/;

/** The API server decides on cross-origin access, not the target. */
const crossOrigin = /^access-control-allow-(?:credentials|headers|methods|origin)$/;

function endToEnd(headers: IncomingHttpHeaders): [string, string | string[]][] {
  const named = listedValues(headers.connection).map((name) => name.toLowerCase());
  return Object.entries(headers).flatMap(([name, value]) => {
    const isDropped = hopByHop.has(name) || named.includes(name) || name.startsWith(':');
    return isDropped || value === undefined ? [] : [[name, value]];
  });
}

export interface ForwardedFor {
  /** The client's address. */
  readonly address: string;
  readonly host: string;
  /** As the client sent it, with its query. */
  readonly uri: string;
}

/** The headers of the request to the target; `upgrade`: the requested protocol. */
export function requestHeaders(
  headers: IncomingHttpHeaders,
  client: ForwardedFor,
  targetHost: string,
  upgrade: string | undefined,
): OutgoingHttpHeaders {
  const forwarded = endToEnd(headers).filter(([name]) => !ownBusiness.test(name));
  const before = listedValues(headers['x-forwarded-for']);
  return {
    ...Object.fromEntries(forwarded),
    host: targetHost,
    'x-forwarded-for': [...before, client.address].join(', '),
    'x-forwarded-host': client.host,
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': client.uri,
    ...(upgrade !== undefined && { connection: 'Upgrade', upgrade }),
  };
}

/** The headers of the response to the client. */
export function responseHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const forwarded = endToEnd(headers).filter(([name]) => !crossOrigin.test(name));
  return { 'cache-control': 'no-cache, private', ...Object.fromEntries(forwarded) };
}
