/**
 * The headers of a request to an aggregated API server: they name the user in place of the client's
 * credentials. Pure.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { User } from '@orch/security';
import { requestHeaders } from '../proxy/headers.js';

/** The headers in which aggregated servers read the user. */
const ownIdentityHeader = /^(?:x-remote-(?:user|uid|group|extra-.*)|impersonate-.*)$/;

/** The names of the headers that the cluster publishes for authenticating proxies. */
export interface PublishedHeaders {
  readonly userHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/** Returns whether a client could name another user in a header of this name. */
export function identityHeaders(published: PublishedHeaders): (name: string) => boolean {
  const lower = (names: readonly string[]) => names.map((name) => name.toLowerCase());
  const names = new Set(lower([...published.userHeaders, ...published.groupHeaders]));
  const prefixes = lower(published.extraPrefixes);
  return (name) =>
    ownIdentityHeader.test(name) ||
    names.has(name) ||
    prefixes.some((prefix) => name.startsWith(prefix));
}

/** Bytes of a header name, except `%`, which starts an escape. */
const plainKeyByte = /^[!#$&'*+.^_`|~0-9a-z-]$/;

/** The headers that name the user, as an authenticating proxy sends them. */
export function userHeaders({ name, groups, extra }: User): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = { 'x-remote-user': headerValue(name) };
  if (groups.length > 0) headers['x-remote-group'] = groups.map(headerValue);
  for (const [key, values] of Object.entries(extra)) {
    headers[`x-remote-extra-${escapedKey(key)}`] = values.map(headerValue);
  }
  return headers;
}

export interface Forwarding {
  readonly isIdentityHeader: (name: string) => boolean;
  readonly user: User;
  /** The address of the client. */
  readonly clientAddress: string;
  /** `host:port` of the aggregated server. */
  readonly authority: string;
  /** Without its query. */
  readonly path: string;
  /** The requested protocol, if the client requests another one. */
  readonly upgrade: string | undefined;
}

/** The headers of the request to the aggregated server. */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  { isIdentityHeader, user, clientAddress, authority, path, upgrade }: Forwarding,
): OutgoingHttpHeaders {
  const own = Object.fromEntries(
    Object.entries(headers).filter(([name]) => !isIdentityHeader(name)),
  );
  const client = { address: clientAddress, host: authority, uri: path };
  return { ...requestHeaders(own, client, authority, upgrade), ...userHeaders(user) };
}

/** The bytes of the UTF-8 form, one character each. */
function headerValue(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Escapes every byte that header names do not allow. */
function escapedKey(key: string): string {
  const escaped = [...Buffer.from(key)].map((byte) => {
    const character = String.fromCharCode(byte).toLowerCase();
    return plainKeyByte.test(character)
      ? character
      : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
  });
  return escaped.join('');
}
