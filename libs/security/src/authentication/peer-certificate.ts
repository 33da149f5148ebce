/** The client certificate of a request's connection, with the certificates that signed it. */
import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { certificateChainLengthMax } from '../limits.js';
import type { AuthenticationRequest } from './authentication-request.js';

export type Connection = NonNullable<ReturnType<typeof connectionOf>>;

export interface PeerCertificate {
  /** The last one, as in certificate requests; empty if there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The certificate first, its authority last. */
  readonly chain: readonly X509Certificate[];
  /** By the wall clock. */
  readonly expiresMs: number;
  /** Whether TLS has verified the chain to one of the authorities of the server. */
  readonly isVerified: boolean;
}

export function connectionOf(request: AuthenticationRequest) {
  return 'stream' in request ? request.stream.session : request.socket;
}

/** Undefined: the client has sent no certificate. */
export function peerCertificate(connection: Connection): PeerCertificate | undefined {
  const socket = ('socket' in connection ? connection.socket : connection) as TLSSocket;
  if (typeof socket.getPeerCertificate !== 'function') return undefined;
  const peer = socket.getPeerCertificate(true);
  const subject = peer?.subject as { CN?: string | string[]; O?: string | string[] } | undefined;
  if (!subject) return undefined;
  return {
    commonName: [subject.CN ?? []].flat().at(-1) ?? '',
    organizations: [subject.O ?? []].flat(),
    chain: chainOf(peer),
    expiresMs: Date.parse(peer.valid_to),
    isVerified: socket.authorized,
  };
}

function chainOf(leaf: DetailedPeerCertificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let current: DetailedPeerCertificate | undefined = leaf;
  while (current?.raw && chain.length < certificateChainLengthMax) {
    chain.push(new X509Certificate(current.raw));
    // A self-signed certificate is its own issuer.
    current = current.issuerCertificate === current ? undefined : current.issuerCertificate;
  }
  return chain;
}
