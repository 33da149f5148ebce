/**
 * The certificate files a server was given, looked at for changes, so that a rotation needs no restart:
 * new connections are made with what is there now, those that are open go on. A pair that does not fit
 * together (half of a rotation) is left alone until it does.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CertificatePoll, type Clock, type KeyPairPem, type Logger } from '@orch/component';

/** Longer: a rotated certificate is shown later; shorter: two small files are read more often. */
export const certificatePollMs = 10_000;

export interface ServingCertificateParts {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** What the server serves with now. */
  readonly current: KeyPairPem;
  readonly replace: (pair: KeyPairPem) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class ServingCertificate {
  #current: KeyPairPem;
  readonly #poll: CertificatePoll;

  constructor(private readonly parts: ServingCertificateParts) {
    const { current, clock, logger } = parts;
    this.#current = current;
    this.#poll = new CertificatePoll({
      clock,
      periodMs: certificatePollMs,
      look: () => this.#look(),
      onFault: (reason) =>
        logger.warn({ reason }, 'the changed serving certificate cannot be used'),
    });
  }

  start(): void {
    this.#poll.start();
  }

  stop(): void {
    this.#poll.stop();
  }

  /** One look at the files. Never rejects: what is in use stays in use. */
  poll(): Promise<void> {
    return this.#poll.poll();
  }

  async #look(): Promise<void> {
    const { certificateFile, keyFile, replace, logger } = this.parts;
    const [certificatePem, keyPem] = await Promise.all([
      readFile(certificateFile, 'utf8'),
      readFile(keyFile, 'utf8'),
    ]);
    if (certificatePem === this.#current.certificatePem && keyPem === this.#current.keyPem) return;
    const certificate = new X509Certificate(certificatePem);
    if (!certificate.checkPrivateKey(createPrivateKey(keyPem))) {
      throw new Error(`${keyFile} is not the key of ${certificateFile}`);
    }
    this.#current = { certificatePem, keyPem };
    replace(this.#current);
    logger.info({ until: certificate.validTo }, 'serving certificate replaced');
  }
}
