/** Failures of single objects: shown as they come, so that the others are still worked on. */
import { errorLine, PartialFailure } from './errors.js';
import type { Io } from './io.js';

export class Failures {
  private hasFailed = false;

  constructor(private readonly io: Io) {}

  /** Runs `act`; what it throws is shown and remembered. */
  async showing(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.hasFailed = true;
      this.io.err(errorLine(error));
    }
  }

  /** Throws `PartialFailure` when something has failed. */
  end(): void {
    if (this.hasFailed) throw new PartialFailure();
  }
}
