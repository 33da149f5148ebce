/** A bound on work whose amount a client chooses. */

export class TooManyStepsError extends Error {
  override readonly name = 'TooManyStepsError';
}

export class StepBudget {
  constructor(private left: number) {}

  /** Subtracts from the steps that are left. Throws TooManyStepsError when none are left. */
  spend(stepCount: number): void {
    this.left -= stepCount;
    if (this.left < 0) throw new TooManyStepsError();
  }
}
