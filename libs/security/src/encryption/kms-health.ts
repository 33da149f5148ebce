/**
 * Whether a key management service encrypts and decrypts. A result is remembered for a while, so
 * that frequent probes do not load the service; requests that wait for the same check share it.
 */
import type { Clock } from '@orch/component';
import { kmsHealthyMs, kmsUnhealthyMs } from '../limits.js';
import type { KeyManagementService } from './envelope.js';
import { KmsError } from './kms-error.js';

const probe = Buffer.from('ping');

export class KmsHealth {
  private result: { readonly atMs: number; readonly failure: unknown } | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly service: KeyManagementService,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  /** Rejects with KmsError if the last check failed. */
  async check(): Promise<void> {
    if (!this.isCurrent()) {
      this.running ??= this.probe().finally(() => {
        this.running = undefined;
      });
      await this.running;
    }
    if (this.result?.failure !== undefined) throw this.result.failure;
  }

  private isCurrent(): boolean {
    if (!this.result) return false;
    const validMs = this.result.failure === undefined ? kmsHealthyMs : kmsUnhealthyMs;
    return this.clock.monotonicMs() - this.result.atMs < validMs;
  }

  /** Never rejects. */
  private async probe(): Promise<void> {
    let failure: unknown;
    try {
      const decrypted = await this.service.decrypt(await this.service.encrypt(probe));
      if (!decrypted.equals(probe)) {
        failure = new KmsError('the service does not decrypt its own ciphertext');
      }
    } catch (error) {
      failure = error;
    }
    this.result = { atMs: this.clock.monotonicMs(), failure };
  }
}
