/** What the authorizer of a component server decides about: a request and its credentials. */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Awaitable } from '../awaitable.js';

/** The user of a request, as reviews describe it. */
export interface ServingUser {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ServingRequest {
  readonly path: string;
  /** `get`, `post`, ... */
  readonly verb: string;
  readonly bearerToken?: string;
  /**
   * The user whom the connection proves; `notValid` if it has a certificate that proves none.
   * Absent without a certificate.
   */
  readonly user?: ServingUser | 'notValid';
}

/** Authenticates the connections of a component server. The authorities may change. */
export interface ServingAuthentication {
  /** Authorities whose client certificates TLS verifies; empty: none yet. */
  readonly authoritiesPem: string;
  /** Calls `changed` when the authorities change. */
  onChange(changed: () => void): void;
  authenticate(request: IncomingMessage): Awaitable<ServingRequest['user']>;
}

/** Extracts the attributes of a request that the authorizer needs. */
export async function servingRequest(
  request: IncomingMessage,
  path: string,
  authenticate: ServingAuthentication['authenticate'] = verifiedUser,
): Promise<ServingRequest> {
  const header = request.headers.authorization ?? '';
  const bearerToken = /^Bearer +(\S+)$/i.exec(header)?.[1];
  const user = await authenticate(request);
  return {
    path,
    verb: (request.method ?? 'GET').toLowerCase(),
    ...(bearerToken !== undefined && { bearerToken }),
    ...(user && { user }),
  };
}

/** The subject of a client certificate; `notValid` if TLS has not verified it or it has no name. */
function verifiedUser({ socket }: IncomingMessage): ServingRequest['user'] {
  if (!(socket instanceof TLSSocket)) return undefined;
  // Null if the connection has closed.
  const certificate = socket.getPeerCertificate() as {
    subject?: { CN?: string; O?: string | string[] };
  } | null;
  const subject = certificate?.subject;
  if (!subject) return undefined;
  if (!socket.authorized || !subject.CN) return 'notValid';
  return { user: subject.CN, groups: [...[subject.O ?? []].flat(), 'system:authenticated'] };
}
