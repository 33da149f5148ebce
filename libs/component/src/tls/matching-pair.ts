/** Whether a private key belongs to a certificate, as after both files of a pair are rotated. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyPairPem } from './certificate-request.js';

/** Returns the certificate. Throws if its key is another one, or if either cannot be parsed. */
export function requireMatchingPair(
  { certificatePem, keyPem }: KeyPairPem,
  files: { readonly certificateFile?: string; readonly keyFile?: string },
): X509Certificate {
  const certificate = new X509Certificate(certificatePem);
  if (certificate.checkPrivateKey(createPrivateKey(keyPem))) return certificate;
  throw new Error(`${files.keyFile} is not the key of ${files.certificateFile}`);
}
