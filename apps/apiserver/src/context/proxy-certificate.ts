/** The certificate that this server presents to aggregated API servers. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { exitCodes, FatalError, type KeyPairPem } from '@orch/component';
import type { AggregationOptions } from '../options/aggregation-options.js';
import { readPem, usingFilesOf } from '../options/pem-files.js';

const flags = '--proxy-client-cert-file, --proxy-client-key-file';

/** Returns the pair of the flags; undefined: none. Throws FatalError. */
export function proxyCertificate(options: AggregationOptions): KeyPairPem | undefined {
  const certificatePem = readPem(options.proxyCertificateFile);
  const keyPem = readPem(options.proxyKeyFile);
  if (certificatePem === undefined && keyPem === undefined) return undefined;
  if (certificatePem === undefined || keyPem === undefined) {
    throw new FatalError(exitCodes.usage, `${flags}: give both or neither`);
  }
  const isPair = usingFilesOf(flags, () =>
    new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem)),
  );
  if (!isPair) {
    throw new FatalError(
      exitCodes.failed,
      `${flags}: ${options.proxyKeyFile} is not the key of ${options.proxyCertificateFile}`,
    );
  }
  return { certificatePem, keyPem };
}
