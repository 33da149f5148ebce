/**
 * Looks at certificate files again and again, so that a rotation needs no restart. A look that fails
 * changes nothing; the same failure is told once until a look goes well. What is looked at, and what is
 * made of it, is the owner's.
 */
import type { Clock, Timer } from '../clock.js';

export interface CertificatePollParts {
  readonly clock: Clock;
  readonly periodMs: number;
  /** Takes over what is there now. */
  readonly look: () => Promise<void>;
  readonly onFault: (reason: string) => void;
}

export class CertificatePoll {
  #fault: string | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(private readonly parts: CertificatePollParts) {}

  /** Again while it runs: nothing. */
  start(): void {
    if (this.#stopped || this.#timer) return;
    this.#timer = this.parts.clock.setTimer(this.parts.periodMs, () => {
      void this.poll().finally(() => {
        this.#timer = undefined;
        this.start();
      });
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** One look. Never rejects. */
  async poll(): Promise<void> {
    try {
      await this.parts.look();
      this.#fault = undefined;
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      if (fault !== this.#fault) this.parts.onFault(fault);
      this.#fault = fault;
    }
  }
}
