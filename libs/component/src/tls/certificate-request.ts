/** What is asked of an authority, and what it hands over. */
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
