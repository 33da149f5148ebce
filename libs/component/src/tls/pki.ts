/**
 * Creates the certificates of a cluster: an authority, the server and client certificates that it
 * issues, and requests for certificates. New keys are EC P-256. `certificate-files.ts` stores them.
 * The X.509 library is loaded on first use, because most processes do not need it and it delays the
 * start of the command line tool.
 */
import type { Clock } from '../clock.js';
import type {
  CertificateRequest,
  KeyPairPem,
  RequestedNames,
  SigningOptions,
} from './certificate-request.js';

const loadIssuer = () => import('./x509-certificates.js');
const loadRequests = () => import('./x509-requests.js');

/** Creates a self-signed certificate authority. */
export async function createAuthority(
  commonName: string,
  validMs: number,
  clock: Clock,
): Promise<KeyPairPem> {
  return (await loadIssuer()).createAuthority(commonName, validMs, clock);
}

/** Issues a certificate signed by `authority`. */
export async function issueCertificate(
  authority: KeyPairPem,
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  return (await loadIssuer()).issueCertificate(authority, request, clock);
}

/** Creates a self-signed server certificate. */
export async function createSelfSigned(
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  return (await loadIssuer()).createSelfSigned(request, clock);
}

/** Returns a new private key as PEM. */
export async function createKeyPem(): Promise<string> {
  const { exportKey, generateKeys } = await import('./x509-keys.js');
  return exportKey((await generateKeys()).privateKey);
}

/** Returns a request (PKCS #10, PEM) for a certificate of these names, signed with `keyPem`. */
export async function createCertificateRequest(
  keyPem: string,
  names: Pick<RequestedNames, 'commonName' | 'organizations'> & Partial<RequestedNames>,
): Promise<string> {
  return (await loadRequests()).createRequest(keyPem, names);
}

/** Returns the names in a request. Throws `CertificateRequestError` if it is unreadable. */
export async function requestedNames(requestPem: string): Promise<RequestedNames> {
  return (await loadRequests()).namesOf(requestPem);
}

/**
 * Returns a certificate (PEM) for the names and the key of a request. It never outlives the
 * authority. Throws `CertificateRequestError` if the request can never be signed.
 */
export async function signCertificateRequest(
  authority: KeyPairPem,
  requestPem: string,
  options: SigningOptions,
  clock: Clock,
): Promise<string> {
  return (await loadRequests()).signRequest(authority, requestPem, options, clock);
}
