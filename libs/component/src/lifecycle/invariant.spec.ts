import { afterEach, describe, expect, it } from 'vitest';
import {
  InvariantError,
  invariant,
  isInvariantError,
  isVerifying,
  setVerifying,
  verify,
} from './invariant.js';

const wasVerifying = isVerifying();

afterEach(() => setVerifying(wasVerifying));

describe('invariant', () => {
  it('throws an InvariantError with its details when the condition is false', () => {
    expect(() => invariant(true, 'fine')).not.toThrow();
    expect(() => invariant(false, 'term falls', { from: 3, to: 2 })).toThrow(
      new InvariantError('term falls (from=3, to=2)'),
    );
  });
});

describe('verify', () => {
  it('evaluates its condition only while verification is on', () => {
    let count = 0;
    const fails = () => {
      count += 1;
      return false;
    };
    setVerifying(false);
    expect(() => verify(fails, 'costly')).not.toThrow();
    expect(count).toBe(0);
    setVerifying(true);
    expect(() => verify(fails, 'costly')).toThrow(InvariantError);
    expect(() => verify(() => true, 'costly')).not.toThrow();
  });
});

describe('isInvariantError', () => {
  it('recognises a broken invariant by name, also as a cause', () => {
    const cloned = Object.assign(new Error('from a thread'), { name: 'InvariantError' });
    expect(isInvariantError(new Error('wrapped', { cause: cloned }))).toBe(true);
    expect(isInvariantError(new Error('other'))).toBe(false);
  });
});
