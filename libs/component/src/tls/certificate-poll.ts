/**
 * Reloads certificate files periodically, so that a rotation needs no restart. A failed reload
 * changes nothing; the same failure is reported once until a reload succeeds. The owner decides
 * what a reload does.
 */
import type { Clock, Timer } from '../clock.js';
import { errorMessage } from '../errors/thrown.js';

export interface CertificatePollOptions {
  readonly clock: Clock;
  readonly periodMs: number;
  /** Reads the files and puts them into use. */
  readonly reload: () => Promise<void>;
  readonly onError: (reason: string) => void;
}

export class CertificatePoll {
  private lastError: string | undefined;
  private timer: Timer | undefined;
  private isStopped = false;

  constructor(private readonly options: CertificatePollOptions) {}

  /** Has no effect while it runs. */
  start(): void {
    if (this.isStopped || this.timer) return;
    this.timer = this.options.clock.setTimer(this.options.periodMs, () => {
      void this.poll().finally(() => {
        this.timer = undefined;
        this.start();
      });
    });
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
    this.timer = undefined;
  }

  get stopped(): boolean {
    return this.isStopped;
  }

  /** Reloads once. Never rejects. */
  async poll(): Promise<void> {
    try {
      await this.options.reload();
      this.lastError = undefined;
    } catch (error) {
      const reason = errorMessage(error);
      if (reason !== this.lastError) this.options.onError(reason);
      this.lastError = reason;
    }
  }
}
