/**
 * Certificates of a cluster: an authority, and the server and client certificates it issues. Keys are EC
 * P-256. Nothing is read or written here; see `certificate-files.ts`. What makes them is loaded at first
 * use: most processes make none, and the command line must start at once.
 */
import type { Clock } from '../clock.js';

/** A certificate with its private key (PKCS #8), both PEM. */
export interface KeyPairPem {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface CertificateRequest {
  /** The user name of a client. */
  readonly commonName: string;
  /** The groups of a client. */
  readonly organizations?: readonly string[];
  /** DNS names and addresses of a server. */
  readonly hosts?: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
  readonly validMs: number;
}

const loadMaker = () => import('./x509-certificates.js');

export async function createAuthority(
  commonName: string,
  validMs: number,
  clock: Clock,
): Promise<KeyPairPem> {
  return (await loadMaker()).createAuthority(commonName, validMs, clock);
}

/** A certificate signed by `authority`. */
export async function issueCertificate(
  authority: KeyPairPem,
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  return (await loadMaker()).issueCertificate(authority, request, clock);
}

/** A server certificate that only itself vouches for: where no authority is configured. */
export async function createSelfSigned(
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  return (await loadMaker()).createSelfSigned(request, clock);
}
