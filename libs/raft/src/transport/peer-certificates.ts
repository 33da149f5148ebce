/**
 * The certificate, key and authorities by which replicas know each other, kept as files. Their files are
 * looked at for changes, so that a rotation needs no restart: new connections use what is there now, those
 * that are open go on. A set that does not fit together (half of a rotation) is left alone until it does.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { CertificatePoll, type Clock, type Logger } from '@orch/component';
import { CERTIFICATE_POLL_MS, CERTIFICATE_WARNING_SHARE } from './limits.js';
import { errorText, TransportError } from './transport-error.js';

export interface CertificateFiles {
  /** PEM, the own certificate first, then what leads up to the authority. For both ends of a connection. */
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
export const TLS_SETTINGS = {
  minVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384',
} as const;

export class PeerCertificates {
  #current: CertificateSet | undefined;
  /** Of the files last read, good or not. */
  #seen = '';
  /** What was last said of the end of a certificate: said once for each. */
  #expiryTold: string | undefined;
  readonly #poll: CertificatePoll;
  readonly #listeners = new Set<(current: CertificateSet) => void>();

  constructor(
    private readonly files: CertificateFiles,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.#poll = new CertificatePoll({
      clock,
      periodMs: CERTIFICATE_POLL_MS,
      look: () => this.#look().finally(() => this.#tellExpiry()),
      // The next change of a file is the next try.
      onFault: (error) => logger.warn({ error }, 'changed peer certificates cannot be used'),
    });
  }

  /** Throws TransportError `Stopped` before `load`. */
  get current(): CertificateSet {
    if (!this.#current) throw new TransportError('Stopped', 'certificates are not loaded');
    return this.#current;
  }

  /** Reads the files, unless that has been done. Rejects with TransportError `BadCertificate`. */
  async load(): Promise<void> {
    if (this.#current) return;
    this.#seen = await this.#signature();
    this.#take(await this.#read());
  }

  /** Looks for changes from now on and tells them. */
  watch(listener: (current: CertificateSet) => void): void {
    this.#listeners.add(listener);
    this.#poll.start();
  }

  stop(): void {
    this.#poll.stop();
  }

  async #look(): Promise<void> {
    const signature = await this.#signature();
    if (signature === this.#seen) return;
    this.#seen = signature;
    this.#take(await this.#read());
    const until = new Date(this.current.expiresAtMs).toISOString();
    this.logger.info({ until }, 'peer certificates replaced');
    if (this.#poll.stopped) return;
    for (const listener of this.#listeners) listener(this.current);
  }

  #take(read: CertificateSet): void {
    this.#current = read;
    this.#tellExpiry();
  }

  #tellExpiry(): void {
    if (this.#poll.stopped) return;
    const { fingerprint, validFromMs, expiresAtMs } = this.current;
    const leftMs = expiresAtMs - this.clock.nowMs();
    if (leftMs >= (expiresAtMs - validFromMs) * CERTIFICATE_WARNING_SHARE) return;
    const hasExpired = leftMs <= 0;
    const told = `${fingerprint} ${hasExpired}`;
    if (told === this.#expiryTold) return;
    this.#expiryTold = told;
    const fields = {
      file: this.files.certificateFile,
      until: new Date(expiresAtMs).toISOString(),
    };
    if (hasExpired) this.logger.error(fields, 'the peer certificate has expired');
    else this.logger.warn(fields, 'the peer certificate is about to expire');
  }

  async #signature(): Promise<string> {
    const { certificateFile, keyFile, authoritiesFile } = this.files;
    const parts = await Promise.all(
      [certificateFile, keyFile, authoritiesFile].map(async (file) => {
        try {
          const { ino, mtimeMs, size } = await stat(file);
          return `${ino}:${mtimeMs}:${size}`;
        } catch (error) {
          throw unreadable(file, error);
        }
      }),
    );
    return parts.join(' ');
  }

  async #read(): Promise<CertificateSet> {
    const { certificateFile, keyFile, authoritiesFile } = this.files;
    const [cert, key, ca] = await Promise.all(
      [certificateFile, keyFile, authoritiesFile].map(async (file) => {
        try {
          return await readFile(file);
        } catch (error) {
          throw unreadable(file, error);
        }
      }),
    );
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
      createSecureContext({ ...TLS_SETTINGS, ...set }),
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
