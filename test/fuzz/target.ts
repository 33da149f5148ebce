/** What is fuzzed: a name, random inputs for a decoder, and what must hold whatever the input. */
import fc from 'fast-check';

export interface Target {
  readonly name: string;
  /** Of the inputs that are asked for: below 1 for targets that take long. */
  readonly share: number;
  /** One property over random inputs. */
  readonly property: fc.IRawProperty<unknown>;
  /** Called once before the inputs; the result after the last one. */
  readonly open?: () => Promise<() => Promise<void>>;
}

interface Settings {
  readonly share?: number;
  readonly open?: Target['open'];
}

/** `holds` throws when the input shows a fault. */
export function target<Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  holds: (input: Input) => void,
  settings: Settings = {},
): Target {
  return { share: 1, ...settings, name, property: erased(fc.property(input, holds)) };
}

export function asyncTarget<Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  holds: (input: Input) => Promise<void>,
  settings: Settings = {},
): Target {
  return { share: 1, ...settings, name, property: erased(fc.asyncProperty(input, holds)) };
}

/** Those whose inputs cost next to nothing get more of them. */
export function cheap(targets: readonly Target[]): Target[] {
  return targets.map((one) => ({ ...one, share: 3 }));
}

/** Inputs are only ever handed back to the property that made them. */
function erased<Input>(property: fc.IRawProperty<Input>): fc.IRawProperty<unknown> {
  return property as unknown as fc.IRawProperty<unknown>;
}

/** The class of an error that a decoder may throw. */
export type ErrorClass = abstract new (...parameters: never[]) => Error;

/** What `decode` gives; undefined when it refuses with one of these errors. Others are faults. */
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
