/**
 * Results that are usually known immediately. A promise and its microtask cost more than most
 * decisions on the path of a request, so that these return a promise only if they have to wait.
 */

/** A value, or a promise of it. A function that returns one may throw as well as reject. */
export type Awaitable<T> = T | Promise<T>;

/** How `firstAccepted` treats the outcomes of its attempts. */
export interface Acceptance<O> {
  accepts(output: O): boolean;
  /** Whether the next attempt follows after the error; otherwise the error is thrown. */
  passes(error: unknown): boolean;
  /** The result without an accepted output; may throw. */
  otherwise(outputs: readonly O[], errors: readonly unknown[]): O;
}

/** A function that calls `attempts` in order and returns the first output that is accepted. */
export function firstAccepted<I extends readonly unknown[], O>(
  attempts: readonly ((...input: I) => Awaitable<O>)[],
  acceptance: Acceptance<O>,
): (...input: I) => Awaitable<O> {
  return (...input) => new Attempts(attempts, acceptance, input).run();
}

class Attempts<I extends readonly unknown[], O> {
  private next = 0;
  /** Created on demand: usually the first attempts decide. */
  private outputs: O[] | undefined;
  private errors: unknown[] | undefined;

  constructor(
    private readonly attempts: readonly ((...input: I) => Awaitable<O>)[],
    private readonly acceptance: Acceptance<O>,
    private readonly input: I,
  ) {}

  run(): Awaitable<O> {
    const { attempts, acceptance, input } = this;
    while (this.next < attempts.length) {
      const attempt = attempts[this.next]!;
      this.next += 1;
      try {
        const output = attempt(...input);
        if (output instanceof Promise) return this.runAfter(output);
        if (acceptance.accepts(output)) return output;
        this.reject(output);
      } catch (error) {
        this.pass(error);
      }
    }
    return acceptance.otherwise(this.outputs ?? [], this.errors ?? []);
  }

  private async runAfter(pending: Promise<O>): Promise<O> {
    try {
      const output = await pending;
      if (this.acceptance.accepts(output)) return output;
      this.reject(output);
    } catch (error) {
      this.pass(error);
    }
    return this.run();
  }

  private reject(output: O): void {
    this.outputs ??= [];
    this.outputs.push(output);
  }

  private pass(error: unknown): void {
    if (!this.acceptance.passes(error)) throw error;
    this.errors ??= [];
    this.errors.push(error);
  }
}
