/**
 * Choices made from a list of random numbers: the list is what `fast-check` draws and makes small, so that
 * whatever is built of it is made small too. Once the numbers have run out every choice is the first one.
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

/** Numbers for `Draws`, which is spent by use: make one of them for each use. */
export function drawNumbers(countMax: number): fc.Arbitrary<number[]> {
  return fc.array(fc.nat(numberMax), { maxLength: countMax, size: 'max' });
}
