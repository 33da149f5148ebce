/**
 * Watches the files of a certificate and its key and replaces the pair when they change, so that a
 * rotation needs no restart: new connections use the new certificate, open ones continue. A pair
 * that does not match (half of a rotation) is ignored until it does.
 */
import { readFile } from 'node:fs/promises';
import {
  CertificatePoll,
  type Clock,
  type KeyPairPem,
  type Logger,
  requireMatchingPair,
} from '@orch/component';

/** Period of the checks. Higher: a new certificate is used later. Lower: more file reads. */
export const certificatePollMs = 10_000;

export interface ReloadedCertificateDependencies {
  /** The purpose of the certificate, for the log. */
  readonly name: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** The pair in use. */
  readonly current: KeyPairPem;
  readonly replace: (pair: KeyPairPem) => void;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

export class ReloadedCertificate {
  private current: KeyPairPem;
  private readonly files: CertificatePoll;

  constructor(private readonly dependencies: ReloadedCertificateDependencies) {
    const { name, current, clock, logger } = dependencies;
    this.current = current;
    this.files = new CertificatePoll({
      clock,
      periodMs: certificatePollMs,
      reload: () => this.check(),
      onError: (reason) =>
        logger.warn({ certificate: name, reason }, 'the changed certificate cannot be used'),
    });
  }

  start(): void {
    this.files.start();
  }

  stop(): void {
    this.files.stop();
  }

  /** Reads the files once. Never rejects: after an error the current certificate stays in use. */
  poll(): Promise<void> {
    return this.files.poll();
  }

  private async check(): Promise<void> {
    const { name, certificateFile, keyFile, replace, logger } = this.dependencies;
    const [certificatePem, keyPem] = await Promise.all([
      readFile(certificateFile, 'utf8'),
      readFile(keyFile, 'utf8'),
    ]);
    if (certificatePem === this.current.certificatePem && keyPem === this.current.keyPem) return;
    const pair = { certificatePem, keyPem };
    const certificate = requireMatchingPair(pair, { certificateFile, keyFile });
    this.current = pair;
    replace(this.current);
    logger.info({ certificate: name, until: certificate.validTo }, 'certificate replaced');
  }
}
