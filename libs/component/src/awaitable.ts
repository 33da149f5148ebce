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
export function firstAccepted<I extends unknown[], O>(
  attempts: readonly ((...input: I) => Awaitable<O>)[],
  acceptance: Acceptance<O>,
): (...input: I) => Awaitable<O> {
  /** Usually the first attempt decides: rejected outcomes are collected on demand. */
  const attemptFrom = (
    first: number,
    rejected: Rejected<O> | undefined,
    ...input: I
  ): Awaitable<O> => {
    let before = rejected;
    for (let index = first; index < attempts.length; index += 1) {
      try {
        const output = attempts[index]!(...input);
        if (output instanceof Promise)
          return attemptAfter(output, index, before ?? noOutcomes(), input);
        if (acceptance.accepts(output)) return output;
        before ??= noOutcomes();
        before.outputs.push(output);
      } catch (error) {
        if (!acceptance.passes(error)) throw error;
        before ??= noOutcomes();
        before.errors.push(error);
      }
    }
    return acceptance.otherwise(before?.outputs ?? [], before?.errors ?? []);
  };
  const attemptAfter = async (
    pending: Promise<O>,
    index: number,
    rejected: Rejected<O>,
    input: I,
  ): Promise<O> => {
    try {
      const output = await pending;
      if (acceptance.accepts(output)) return output;
      rejected.outputs.push(output);
    } catch (error) {
      if (!acceptance.passes(error)) throw error;
      rejected.errors.push(error);
    }
    return attemptFrom(index + 1, rejected, ...input);
  };
  return attemptFrom.bind(undefined, 0, undefined);
}

interface Rejected<O> {
  readonly outputs: O[];
  readonly errors: unknown[];
}

function noOutcomes<O>(): Rejected<O> {
  return { outputs: [], errors: [] };
}
