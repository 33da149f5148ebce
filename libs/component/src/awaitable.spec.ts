import { expect, it } from 'vitest';
import { type Acceptance, type Awaitable, firstAccepted } from './awaitable.js';

type Attempt = (input: number) => Awaitable<number>;

const positive: Acceptance<number> = {
  accepts: (output) => output > 0,
  passes: (error) => error instanceof RangeError,
  otherwise: (outputs, errors) => -(outputs.length * 10 + errors.length),
};

const passing: Attempt = () => {
  throw new RangeError('passes');
};
const failing: Attempt = () => {
  throw new TypeError('ends');
};

it('firstAccepted returns without a promise when no attempt before the result returns one', () => {
  const later: Attempt = async () => 7;
  expect(firstAccepted([() => 0, passing, (input: number) => input, later], positive)(5)).toBe(5);
});

it('firstAccepted waits for a promise and calls the attempts after it in order', async () => {
  const calls: string[] = [];
  const named =
    (name: string, output: Awaitable<number>): Attempt =>
    () => {
      calls.push(name);
      return output;
    };
  const attempts = [
    named('a', Promise.resolve(0)),
    named('b', -1),
    named('c', Promise.resolve(3)),
    named('d', 4),
  ];
  expect(await firstAccepted(attempts, positive)(0)).toBe(3);
  expect(calls).toEqual(['a', 'b', 'c']);
});

it('firstAccepted passes all outputs and errors on when none is accepted', async () => {
  const rejecting: Attempt = async () => passing(0);
  expect(firstAccepted([passing, () => 0], positive)(1)).toBe(-11);
  expect(await firstAccepted([rejecting, () => 0, async () => 0, passing], positive)(1)).toBe(-22);
});

it('firstAccepted ends with an error that does not pass, thrown or rejected', async () => {
  expect(() => firstAccepted([failing, () => 1], positive)(1)).toThrow('ends');
  const rejecting: Attempt = async () => failing(0);
  await expect(firstAccepted([rejecting, () => 1], positive)(1)).rejects.toThrow('ends');
});
