/**
 * The certificate and key of a signer, in files. They are read for each signature, so that a
 * rotation needs no restart. While the files do not match (half of a rotation), the last pair that
 * matched remains in use.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { errorMessage, type KeyPairPem, type Logger, UsageError } from '@orch/component';

export interface SigningFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

export class SigningAuthority {
  private last: KeyPairPem;

  /** Throws `UsageError` if the files cannot be used. */
  constructor(
    private readonly files: SigningFiles,
    private readonly logger: Logger,
  ) {
    try {
      this.last = readPair(files);
    } catch (error) {
      throw new UsageError(errorMessage(error), { cause: error });
    }
  }

  current(): KeyPairPem {
    try {
      this.last = readPair(this.files);
    } catch (error) {
      const { certificateFile } = this.files;
      this.logger.warn(
        { err: error, file: certificateFile },
        'the changed signing certificate cannot be used',
      );
    }
    return this.last;
  }
}

function readPair({ certificateFile, keyFile }: SigningFiles): KeyPairPem {
  const certificatePem = readFileSync(certificateFile, 'utf8');
  const keyPem = readFileSync(keyFile, 'utf8');
  const certificate = parsed(certificateFile, () => new X509Certificate(certificatePem));
  const key = parsed(keyFile, () => createPrivateKey(keyPem));
  if (!certificate.checkPrivateKey(key)) {
    throw new Error(`${keyFile} is not the key of ${certificateFile}`);
  }
  if (!certificate.ca) throw new Error(`${certificateFile} is not a certificate authority`);
  return { certificatePem, keyPem };
}

function parsed<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${file} cannot be used: ${errorMessage(error)}`, { cause: error });
  }
}
