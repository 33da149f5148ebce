/**
 * The certificate of a server or client, and the authorities of its peers. Their files are checked
 * for changes, so that a rotation needs no restart: new connections use the current files, open
 * ones continue. A pair that does not match (half of a rotation) is ignored until it does.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.js';
import type { Logger } from '../logging/logger.js';
import { CertificatePoll } from './certificate-poll.js';
import type { KeyPairPem } from './certificate-request.js';
import { requireMatchingPair } from './matching-pair.js';

/** Period of the checks. Higher: a new certificate is used later. Lower: more file reads. */
const pollMs = 10_000;

export interface TlsMaterial {
  readonly pair: KeyPairPem;
  /** Absent if no client certificates are requested. */
  readonly clientAuthoritiesPem?: string;
}

export interface ReloadedTlsOptions {
  /** The purpose of the certificate, for the log: `serving`. */
  readonly name: string;
  /** A pair or authorities without files never change by themselves. */
  readonly certificateFile?: string;
  readonly keyFile?: string;
  readonly clientAuthoritiesFile?: string;
  /** The material in use. */
  readonly current: TlsMaterial;
  readonly replace: (material: TlsMaterial) => void;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

export class ReloadedTls {
  private current: TlsMaterial;
  private followsPair: boolean;
  private readonly files: CertificatePoll;

  constructor(private readonly options: ReloadedTlsOptions) {
    const { name, current, certificateFile, keyFile, clock, logger } = options;
    this.current = current;
    this.followsPair = Boolean(certificateFile && keyFile);
    this.files = new CertificatePoll({
      clock,
      periodMs: pollMs,
      reload: () => this.check(),
      onError: (reason) =>
        logger.warn({ certificate: name, reason }, 'the changed certificate cannot be used'),
    });
  }

  start(): void {
    if (this.followsPair || this.options.clientAuthoritiesFile) this.files.start();
  }

  stop(): void {
    this.files.stop();
  }

  /** Uses this pair from now on, instead of that of the files. */
  present(pair: KeyPairPem): void {
    this.followsPair = false;
    this.use({ ...this.current, pair });
  }

  /** Trusts these authorities of clients from now on. */
  trust(clientAuthoritiesPem: string): void {
    const material = { ...this.current, clientAuthoritiesPem };
    this.options.replace(material);
    this.current = material;
  }

  /** Reads the files once. Never rejects: after an error the current material stays in use. */
  poll(): Promise<void> {
    return this.files.poll();
  }

  private async check(): Promise<void> {
    const { clientAuthoritiesFile } = this.options;
    const pair = await this.readPair();
    const clientAuthoritiesPem =
      clientAuthoritiesFile && (await readFile(clientAuthoritiesFile, 'utf8'));
    const before = this.current;
    const isSame =
      pair.certificatePem === before.pair.certificatePem &&
      pair.keyPem === before.pair.keyPem &&
      (!clientAuthoritiesPem || clientAuthoritiesPem === before.clientAuthoritiesPem);
    if (isSame) return;
    requireMatchingPair(pair, this.options);
    if (clientAuthoritiesPem) parseAuthorities(clientAuthoritiesFile!, clientAuthoritiesPem);
    this.use({ ...before, pair, ...(clientAuthoritiesPem && { clientAuthoritiesPem }) });
  }

  private async readPair(): Promise<KeyPairPem> {
    const { certificateFile, keyFile } = this.options;
    if (!this.followsPair || !certificateFile || !keyFile) return this.current.pair;
    // In order, so that of two unreadable files the error always names the first.
    const certificatePem = await readFile(certificateFile, 'utf8');
    const keyPem = await readFile(keyFile, 'utf8');
    return { certificatePem, keyPem };
  }

  private use(material: TlsMaterial): void {
    this.options.replace(material);
    this.current = material;
    const { validTo } = new X509Certificate(material.pair.certificatePem);
    const { name, logger } = this.options;
    logger.info({ certificate: name, until: validTo }, 'certificate replaced');
  }
}

/** Throws if the first certificate cannot be parsed. */
function parseAuthorities(file: string, pem: string): void {
  try {
    new X509Certificate(pem);
  } catch (error) {
    throw new Error(`${file} contains no certificate`, { cause: error });
  }
}
