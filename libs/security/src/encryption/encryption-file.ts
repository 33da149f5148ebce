/**
 * Reads the encryption configuration file and again when its modification time or size changes, so
 * that a rotation of keys needs no restart. A changed file that cannot be used is reported, and the
 * previous configuration stays in use.
 */
import { readFile, stat } from 'node:fs/promises';
import { CertificatePoll, type Clock, errorMessage, type Logger } from '@orch/component';
import { encryptionFileBytesMax } from '../limits.js';
import {
  type EncryptionConfiguration,
  EncryptionConfigurationError,
  parseEncryptionConfiguration,
} from './encryption-configuration.js';
import type { EncryptionObserver } from './encryption-observer.js';

export interface EncryptionFileDependencies {
  readonly path: string;
  /** Period of the checks. Higher: new keys are used later. Lower: more file system calls. */
  readonly periodMs: number;
  readonly clock: Clock;
  readonly observer?: EncryptionObserver;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

export class EncryptionFile {
  private version = '';
  private configuration: EncryptionConfiguration | undefined;
  private readonly listeners: ((configuration: EncryptionConfiguration) => void)[] = [];
  private readonly poller: CertificatePoll;

  constructor(private readonly dependencies: EncryptionFileDependencies) {
    const { clock, periodMs, logger } = dependencies;
    this.poller = new CertificatePoll({
      clock,
      periodMs,
      reload: () => this.reload(),
      onError: (reason) =>
        logger.warn({ reason }, 'the changed encryption configuration cannot be used'),
    });
  }

  /** Reads the file. Rejects with EncryptionConfigurationError. */
  async open(): Promise<void> {
    this.version = await this.versionOf();
    this.configuration = await this.parsed();
  }

  /** Calls `listener` with the configuration, and with each later one. Requires `open`. */
  follow(listener: (configuration: EncryptionConfiguration) => void): void {
    if (this.configuration) listener(this.configuration);
    this.listeners.push(listener);
  }

  start(): void {
    this.poller.start();
  }

  stop(): void {
    this.poller.stop();
    this.configuration?.close();
  }

  /** Checks the file once. Never rejects. */
  poll(): Promise<void> {
    return this.poller.poll();
  }

  private async reload(): Promise<void> {
    const version = await this.versionOf();
    if (version === this.version) return;
    const previous = this.configuration;
    const next = await this.parsed();
    if (this.poller.stopped) return next.close();
    this.version = version;
    this.configuration = next;
    for (const listener of this.listeners) listener(next);
    previous?.close();
    this.dependencies.logger.info({}, 'encryption configuration replaced');
  }

  private async versionOf(): Promise<string> {
    const { mtimeNs, size, ino } = await this.reading(
      stat(this.dependencies.path, { bigint: true }),
    );
    if (size > encryptionFileBytesMax) {
      throw this.unreadable(`larger than ${encryptionFileBytesMax} bytes`);
    }
    return `${mtimeNs} ${size} ${ino}`;
  }

  private async parsed(): Promise<EncryptionConfiguration> {
    const { path, clock, observer } = this.dependencies;
    const text = await this.reading(readFile(path, 'utf8'));
    return parseEncryptionConfiguration(text, path, clock, observer);
  }

  private async reading<T>(operation: Promise<T>): Promise<T> {
    try {
      return await operation;
    } catch (error) {
      throw this.unreadable(errorMessage(error));
    }
  }

  private unreadable(cause: string): EncryptionConfigurationError {
    return new EncryptionConfigurationError(
      `cannot read the encryption configuration ${this.dependencies.path}: ${cause}`,
    );
  }
}
