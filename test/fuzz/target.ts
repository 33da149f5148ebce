/**
 * A fuzz target: a name, random inputs for a decoder, and a property that holds for every input.
 */
import fc from 'fast-check';

export interface Target {
  readonly name: string;
  /** Share of the requested inputs: below 1 for slow targets. */
  readonly share: number;
  /** The property over random inputs. */
  readonly property: fc.IRawProperty<unknown>;
  /** Called before the first input; the returned function is called after the last one. */
  readonly open?: () => Promise<() => Promise<void>>;
}

interface TargetOptions {
  readonly share?: number;
  readonly open?: Target['open'];
}

/** A target whose `check` throws if the input shows a fault. */
export function target<Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  check: (input: Input) => void,
  options: TargetOptions = {},
): Target {
  return { share: 1, ...options, name, property: erased(fc.property(input, check)) };
}

export function asyncTarget<Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  check: (input: Input) => Promise<void>,
  options: TargetOptions = {},
): Target {
  return { share: 1, ...options, name, property: erased(fc.asyncProperty(input, check)) };
}

/** Gives more inputs to targets whose inputs are cheap. */
export function cheap(targets: readonly Target[]): Target[] {
  return targets.map((each) => ({ ...each, share: 3 }));
}

/** Hides the input type, because inputs only return to the property that drew them. */
function erased<Input>(property: fc.IRawProperty<Input>): fc.IRawProperty<unknown> {
  return property as unknown as fc.IRawProperty<unknown>;
}

/** The class of an error that a decoder may throw. */
export type ErrorClass = abstract new (...parameters: never[]) => Error;

/** The result of `decode`, or undefined if it throws one of `refusals`. Other errors are faults. */
export function decodedOrRefused<Result>(
  decode: () => Result,
  ...refusals: readonly ErrorClass[]
): Result | undefined {
  try {
    return decode();
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return undefined;
    throw error;
  }
}
