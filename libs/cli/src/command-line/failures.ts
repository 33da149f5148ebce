/** Collects the failures of single objects: prints each one and continues with the next object. */
import { errorLine, PartialFailure } from './errors.js';
import type { Io } from './io.js';

export class Failures {
  private hasFailed = false;

  constructor(private readonly io: Io) {}

  /** Runs `act`. Prints and records an error that it throws. */
  async showing(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.hasFailed = true;
      this.io.err(errorLine(error));
    }
  }

  /** Throws `PartialFailure` if any call of `act` has failed. */
  end(): void {
    if (this.hasFailed) throw new PartialFailure();
  }
}
