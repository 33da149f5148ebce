/**
 * Certificates of a cluster: an authority, and the server and client certificates it issues. Keys are EC
 * P-256. Nothing is read or written here; see `certificate-files.ts`. What makes them is loaded at first
 * use: most processes make none, and the command line must start at once.
 */
import type { Clock } from '../clock.js';
import type { CertificateRequest, KeyPairPem } from './certificate-request.js';

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
