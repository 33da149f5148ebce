/**
 * Users that an authenticating proxy names in headers. The headers are read only after the client
 * certificate of the connection has proven that the client is the proxy.
 */
import { unauthorized } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
import type { AuthenticationRequest } from './authentication-request.js';
import type { Authenticator } from './authenticator.js';
import type { CertificateAuthorities } from './certificate-authorities.js';
import { headerText, unescapedKey } from './header-text.js';
import { type Connection, connectionOf, peerCertificate } from './peer-certificate.js';
import { authenticated, type User } from './user.js';

export interface RequestHeaderOptions {
  readonly authorities: CertificateAuthorities;
  /** Common names of proxies; empty: every name. */
  readonly allowedNames: readonly string[];
  /** Names of headers; the first with a value names the user. */
  readonly userHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  /** Beginnings of headers whose rest is the key of an extra value. */
  readonly extraPrefixes: readonly string[];
}

/** `expiresMs`: by the wall clock, until when the client is a proxy. */
type Proxy = { readonly expiresMs: number } | 'none' | 'notValid';

/** `version`: that of the authorities which decided. */
interface ReadProxy {
  readonly proxy: Proxy;
  readonly version: number;
}

/** Rejects with 401 for the certificate of another client and for more than one user name. */
export function requestHeaders(options: RequestHeaderOptions, clock: Clock): Authenticator {
  const byConnection = new WeakMap<object, ReadProxy>();
  const names = headerNames(options);
  return (request) => {
    const connection = connectionOf(request);
    if (!connection) return undefined;
    const { version } = options.authorities;
    let read = byConnection.get(connection);
    if (read?.version !== version) {
      read = { proxy: readProxy(connection, options, clock.nowMs()), version };
      byConnection.set(connection, read);
    }
    const { proxy } = read;
    if (proxy === 'none') return undefined;
    if (proxy === 'notValid' || proxy.expiresMs <= clock.nowMs()) throw unauthorized();
    return userOf(request, names);
  };
}

function readProxy(
  connection: Connection,
  { authorities, allowedNames }: RequestHeaderOptions,
  nowMs: number,
): Proxy {
  const peer = peerCertificate(connection);
  if (!peer) return 'none';
  const { commonName, chain, isVerified, expiresMs } = peer;
  const isAllowed = allowedNames.length === 0 || allowedNames.includes(commonName);
  return isVerified && isAllowed && authorities.signed(chain, nowMs) ? { expiresMs } : 'notValid';
}

type HeaderNames = Pick<RequestHeaderOptions, 'userHeaders' | 'groupHeaders' | 'extraPrefixes'>;

function headerNames({ userHeaders, groupHeaders, extraPrefixes }: HeaderNames): HeaderNames {
  const lower = (names: readonly string[]) => names.map((name) => name.toLowerCase());
  return {
    userHeaders: lower(userHeaders),
    groupHeaders: lower(groupHeaders),
    extraPrefixes: lower(extraPrefixes),
  };
}

function userOf(
  { rawHeaders }: AuthenticationRequest,
  { userHeaders, groupHeaders, extraPrefixes }: HeaderNames,
): User | undefined {
  const values = new Map<string, string[]>();
  const extra = new Map<string, string[]>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at]!.toLowerCase();
    const value = headerText(rawHeaders[at + 1] ?? '');
    append(values, header, value);
    const prefix = extraPrefixes.find((candidate) => header.startsWith(candidate));
    if (prefix !== undefined) append(extra, unescapedKey(header.slice(prefix.length)), value);
  }
  const [name = '', ...others] =
    userHeaders.map((header) => values.get(header) ?? []).find(([first]) => first) ?? [];
  // A proxy that adds its header to one of the client must not choose between the two.
  if (others.length > 0) throw unauthorized();
  if (name === '') return undefined;
  const groups = groupHeaders.flatMap((header) => values.get(header) ?? []);
  return authenticated(name, '', groups, Object.fromEntries(extra));
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
