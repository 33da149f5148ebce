/** Which headers go through a proxy. Pure. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { listedValues } from '@orch/streaming';

/** They are about one connection, not about the request. */
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

/** The API's own business: the target must not act as the client towards the API. */
const ownBusiness: ReadonlySet<string> = new Set(['authorization', 'host']);

/** Who may call the API from a browser is not for what stands behind it to say. */
const crossOrigin = /^access-control-allow-(?:credentials|headers|methods|origin)$/;

function endToEnd(headers: IncomingHttpHeaders): [string, string | string[]][] {
  const named = listedValues(headers.connection).map((name) => name.toLowerCase());
  return Object.entries(headers).flatMap(([name, value]) => {
    const isDropped = hopByHop.has(name) || named.includes(name) || name.startsWith(':');
    return isDropped || value === undefined ? [] : [[name, value]];
  });
}

export interface ForwardedFor {
  /** Of the client. */
  readonly address: string;
  readonly host: string;
  /** As the client sent it, with its query. */
  readonly uri: string;
}

/** The headers of the request to the target; `upgrade`: what the connection shall become. */
export function requestHeaders(
  headers: IncomingHttpHeaders,
  client: ForwardedFor,
  targetHost: string,
  upgrade: string | undefined,
): OutgoingHttpHeaders {
  const kept = endToEnd(headers).filter(([name]) => !ownBusiness.has(name));
  const before = listedValues(headers['x-forwarded-for']);
  return {
    ...Object.fromEntries(kept),
    host: targetHost,
    'x-forwarded-for': [...before, client.address].join(', '),
    'x-forwarded-host': client.host,
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': client.uri,
    ...(upgrade !== undefined && { connection: 'Upgrade', upgrade }),
  };
}

/** The headers of the answer to the client. */
export function responseHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept = endToEnd(headers).filter(([name]) => !crossOrigin.test(name));
  return { 'cache-control': 'no-cache, private', ...Object.fromEntries(kept) };
}
