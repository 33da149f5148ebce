/**
 * Authorities of one purpose. TLS verifies a certificate against the authorities of all purposes
 * together; this decides which of them signed it, so that an authority of proxies can never issue
 * users, nor an authority of users a proxy.
 */
import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { credentialCacheEntriesMax } from '../limits.js';

/** A file of authorities cannot be used. */
export class AuthorityError extends Error {
  override readonly name = 'AuthorityError';
}

export class CertificateAuthorities {
  /**
   * When the certificates that intermediate authorities signed end, by digest: a resumed connection
   * has no longer the certificates between the client's and the authority.
   */
  private readonly throughOthers = new LRUCache<string, number>({ max: credentialCacheEntriesMax });

  private versionNumber = 1;

  private constructor(
    private pem: string,
    private certificates: readonly X509Certificate[],
  ) {}

  /** Changes with the authorities: earlier results of `signed` are then stale. */
  get version(): number {
    return this.versionNumber;
  }

  /** Throws AuthorityError if the text has no certificate or an invalid one. */
  static parse(pem: string, path: string): CertificateAuthorities {
    return new CertificateAuthorities(pem, certificatesIn(pem, path));
  }

  /**
   * Returns whether the text differs from the present one. Throws AuthorityError as `parse`, and
   * then retains the authorities.
   */
  replace(pem: string, path: string): boolean {
    if (pem === this.pem) return false;
    this.certificates = certificatesIn(pem, path);
    this.pem = pem;
    this.throughOthers.clear();
    this.versionNumber += 1;
    return true;
  }

  /** Whether one of the authorities signed a certificate of `chain`, which TLS has verified. */
  signed(chain: readonly X509Certificate[], nowMs: number): boolean {
    const [leaf] = chain;
    if (!leaf) return false;
    const length = this.lengthOf(chain, nowMs);
    if (length === undefined) return (this.throughOthers.get(leaf.fingerprint256) ?? 0) > nowMs;
    if (length > 1) {
      const ends = chain.slice(0, length).map(({ validTo }) => Date.parse(validTo));
      this.throughOthers.set(leaf.fingerprint256, Math.min(...ends));
    }
    return true;
  }

  /** The number of certificates up to the one that an authority signed; undefined if none is. */
  private lengthOf(chain: readonly X509Certificate[], nowMs: number): number | undefined {
    for (const [index, certificate] of chain.entries()) {
      if (this.certificates.some((authority) => isIssuer(authority, certificate, nowMs))) {
        return index + 1;
      }
      const next = chain[index + 1];
      if (!next?.ca || !isIssuer(next, certificate, nowMs)) return undefined;
    }
    return undefined;
  }
}

function certificatesIn(pem: string, path: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new AuthorityError(`${path} holds no PEM certificate`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw new AuthorityError(`${path} holds an invalid certificate`, { cause });
  }
}

function isIssuer(issuer: X509Certificate, issued: X509Certificate, nowMs: number): boolean {
  return (
    Date.parse(issuer.validFrom) <= nowMs &&
    nowMs < Date.parse(issuer.validTo) &&
    issued.checkIssued(issuer) &&
    issued.verify(issuer.publicKey)
  );
}
