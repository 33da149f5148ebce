/** Requests for certificates, and the issued pairs. */

/** A certificate and its private key (PKCS #8), both PEM. */
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

/** The names in a request for a certificate (PKCS #10). */
export interface RequestedNames {
  /** Empty if missing. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
}

export interface SigningOptions {
  /** As in certificate signing requests of the API: `client auth`, `digital signature`, ... */
  readonly usages: readonly string[];
  readonly validMs: number;
}

/** A request for a certificate is unreadable or cannot be signed. It never can. */
export class CertificateRequestError extends Error {
  override readonly name = 'CertificateRequestError';
  readonly code = 'certificate-request-invalid';
}
