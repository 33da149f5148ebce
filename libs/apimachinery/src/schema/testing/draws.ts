/**
 * Makes choices from a list of random numbers: `fast-check` draws and shrinks the list, so that the
 * values built from it shrink as well. When the numbers are used up, every choice is the first one.
 */
import fc from 'fast-check';

export class Draws {
  private at = 0;

  constructor(private readonly numbers: readonly number[]) {}

  /** In [0, bound). */
  below(bound: number): number {
    const number = this.numbers[this.at] ?? 0;
    this.at += 1;
    return number % bound;
  }

  /** True once in `count` times. */
  once(count: number): boolean {
    return this.below(count) === count - 1;
  }

  from<Choice>(choices: readonly Choice[]): Choice {
    return choices[this.below(choices.length)]!;
  }
}

const numberMax = 0xffff;

/** Numbers for `Draws`. Using a `Draws` consumes it: create one for each use. */
export function drawNumbers(countMax: number): fc.Arbitrary<number[]> {
  return fc.array(fc.nat(numberMax), { maxLength: countMax, size: 'max' });
}
