/**
 * The certificate, key and authorities by which replicas authenticate each other, in files. Their
 * files are polled for changes, so that a rotation needs no restart: new connections use the
 * current files, open ones continue. A set that does not match (half of a rotation) is ignored
 * until it does.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { CertificatePoll, type Clock, type Logger } from '@orch/component';
import { certificatePollMs, certificateWarningFraction } from '../limits.js';
import { errorText, TransportError } from '../transport-error.js';

export interface CertificateFiles {
  /**
   * PEM, the own certificate first, then what leads up to the authority. For both ends of a
   * connection.
   */
  readonly certificateFile: string;
  readonly keyFile: string;
  /** PEM, the authorities whose certificates are accepted of peers. */
  readonly authoritiesFile: string;
}

export interface CertificateSet {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
  readonly secureContext: SecureContext;
  readonly fingerprint: string;
  readonly validFromMs: number;
  readonly expiresAtMs: number;
}

/** Both ends are ours: nothing older, and the cipher that processors do fastest first. */
export const tlsSettings = {
  minVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384',
} as const;

export class PeerCertificates {
  private loaded: CertificateSet | undefined;
  /** Signature of the files that were read last, valid or not. */
  private seen = '';
  /** The certificate whose expiry was logged last: once for each. */
  private expiryWarned: string | undefined;
  private readonly poll: CertificatePoll;
  private readonly listeners = new Set<(current: CertificateSet) => void>();

  constructor(
    private readonly files: CertificateFiles,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.poll = new CertificatePoll({
      clock,
      periodMs: certificatePollMs,
      reload: () => this.check().finally(() => this.warnOfExpiry()),
      // The next change of a file is the next try.
      onError: (error) => logger.warn({ error }, 'changed peer certificates cannot be used'),
    });
  }

  /** Throws TransportError `Stopped` before `load`. */
  get current(): CertificateSet {
    if (!this.loaded) throw new TransportError('Stopped', 'certificates are not loaded');
    return this.loaded;
  }

  /** Reads the files, unless that has been done. Rejects with TransportError `BadCertificate`. */
  async load(): Promise<void> {
    if (this.loaded) return;
    this.seen = await this.signature();
    this.take(await this.read());
  }

  /** Starts to poll for changes and to report them. */
  watch(listener: (current: CertificateSet) => void): void {
    this.listeners.add(listener);
    this.poll.start();
  }

  stop(): void {
    this.poll.stop();
  }

  private async check(): Promise<void> {
    const signature = await this.signature();
    if (signature === this.seen) return;
    this.seen = signature;
    this.take(await this.read());
    const until = new Date(this.current.expiresAtMs).toISOString();
    this.logger.info({ until }, 'peer certificates replaced');
    if (this.poll.stopped) return;
    for (const listener of this.listeners) listener(this.current);
  }

  private take(read: CertificateSet): void {
    this.loaded = read;
    this.warnOfExpiry();
  }

  private warnOfExpiry(): void {
    if (this.poll.stopped) return;
    const { fingerprint, validFromMs, expiresAtMs } = this.current;
    const leftMs = expiresAtMs - this.clock.nowMs();
    if (leftMs >= (expiresAtMs - validFromMs) * certificateWarningFraction) return;
    const hasExpired = leftMs <= 0;
    const told = `${fingerprint} ${hasExpired}`;
    if (told === this.expiryWarned) return;
    this.expiryWarned = told;
    const fields = {
      file: this.files.certificateFile,
      until: new Date(expiresAtMs).toISOString(),
    };
    if (hasExpired) this.logger.error(fields, 'the peer certificate has expired');
    else this.logger.warn(fields, 'the peer certificate is about to expire');
  }

  private async signature(): Promise<string> {
    const stats = await this.ofFiles((file) => stat(file));
    return stats.map(({ ino, mtimeMs, size }) => `${ino}:${mtimeMs}:${size}`).join(' ');
  }

  /** In this order, so that of several unreadable files the first is reported. */
  private async ofFiles<Value>(read: (file: string) => Promise<Value>): Promise<Value[]> {
    const { certificateFile, keyFile, authoritiesFile } = this.files;
    const values: Value[] = [];
    for (const file of [certificateFile, keyFile, authoritiesFile]) {
      try {
        values.push(await read(file));
      } catch (error) {
        throw unreadable(file, error);
      }
    }
    return values;
  }

  private async read(): Promise<CertificateSet> {
    const { certificateFile, keyFile, authoritiesFile } = this.files;
    const [cert, key, ca] = await this.ofFiles((file) => readFile(file));
    const certificate = parse(certificateFile, () => new X509Certificate(cert!));
    parse(authoritiesFile, () => new X509Certificate(ca!));
    const privateKey = parse(keyFile, () => createPrivateKey(key!));
    if (!certificate.checkPrivateKey(privateKey)) {
      throw new TransportError(
        'BadCertificate',
        `${keyFile} is not the key of ${certificateFile}: put the pair that belongs together there`,
      );
    }
    const set = { cert: cert!, key: key!, ca: ca! };
    const secureContext = parse(certificateFile, () =>
      createSecureContext({ ...tlsSettings, ...set }),
    );
    return {
      ...set,
      secureContext,
      fingerprint: certificate.fingerprint256,
      validFromMs: Date.parse(certificate.validFrom),
      expiresAtMs: Date.parse(certificate.validTo),
    };
  }
}

function parse<Value>(file: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new TransportError(
      'BadCertificate',
      `${file} cannot be used (${errorText(error)}): it must be PEM`,
      { cause: error },
    );
  }
}

function unreadable(file: string, error: unknown): TransportError {
  return new TransportError(
    'BadCertificate',
    `${file} cannot be read (${errorText(error)}): check path, owner and mode`,
    { cause: error },
  );
}
