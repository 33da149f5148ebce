/**
 * Verified client certificates. The certificate of a connection is read once, and again after the
 * authorities have changed, so that a removed authority ends the access of open connections.
 */
import { unauthorized } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
import type { Authenticator } from './authenticator.js';
import type { CertificateAuthorities } from './certificate-authorities.js';
import { type Connection, connectionOf, peerCertificate } from './peer-certificate.js';
import { authenticated, type User } from './user.js';

/** Records the use of certificates. Called synchronously on the request path. */
export interface CertificateObserver {
  /** A certificate was used that expires in so many seconds. */
  certificateUsed(secondsLeft: number): void;
}

interface CertificateUser {
  readonly user: User;
  /** By the wall clock. */
  readonly expiresMs: number;
}

type Certificate = CertificateUser | 'none' | 'notValid';

/** `version`: that of the authorities which decided. */
interface ReadCertificate {
  readonly certificate: Certificate;
  readonly version: number;
}

export interface ClientCertificatesDependencies {
  readonly authorities: Pick<CertificateAuthorities, 'signed' | 'version'>;
  readonly clock: Clock;
  readonly observer?: CertificateObserver;
}

/**
 * Rejects with 401 for a certificate that the authorities have not signed, that has expired or that
 * names no user.
 */
export function clientCertificates(dependencies: ClientCertificatesDependencies): Authenticator {
  const { authorities, clock, observer } = dependencies;
  const byConnection = new WeakMap<object, ReadCertificate>();
  return (request) => {
    const connection = connectionOf(request);
    if (!connection) return undefined;
    const { version } = authorities;
    let read = byConnection.get(connection);
    if (read?.version !== version) {
      read = { certificate: readCertificate(connection, authorities, clock.nowMs()), version };
      byConnection.set(connection, read);
    }
    const { certificate } = read;
    if (certificate === 'none') return undefined;
    if (certificate === 'notValid') throw unauthorized();
    const leftMs = certificate.expiresMs - clock.nowMs();
    // Not a number for a date that cannot be read.
    if (!(leftMs > 0)) throw unauthorized();
    observer?.certificateUsed(leftMs / 1_000);
    return certificate.user;
  };
}

function readCertificate(
  connection: Connection,
  authorities: Pick<CertificateAuthorities, 'signed'>,
  nowMs: number,
): Certificate {
  const peer = peerCertificate(connection);
  if (!peer) return 'none';
  const { commonName, organizations, chain, isVerified, expiresMs } = peer;
  if (!isVerified || commonName === '' || !authorities.signed(chain, nowMs)) return 'notValid';
  return { user: authenticated(commonName, '', organizations), expiresMs };
}
