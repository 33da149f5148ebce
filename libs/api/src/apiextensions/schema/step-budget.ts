/** Bounds work whose amount a client chooses: each step takes from what is left. */

export class TooManyStepsError extends Error {
  override readonly name = 'TooManyStepsError';
}

export class StepBudget {
  constructor(private left: number) {}

  /** Throws TooManyStepsError. */
  spend(stepCount: number): void {
    this.left -= stepCount;
    if (this.left < 0) throw new TooManyStepsError();
  }
}
