import { fieldError, path, validateLabels } from '@orch/apimachinery';
import { describe, expect, it } from 'vitest';
import { listedErrors } from './listed-errors.js';

describe('listed errors', () => {
  it('are handed on as they are', () => {
    const errors = [fieldError.required('spec', '')];
    expect(listedErrors(() => errors)).toBe(errors);
  });

  it('are one bad request when there are more than can be listed', () => {
    const labels = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k ${i}`, '!']));
    const find = () => {
      const errors = [fieldError.required('spec', '')];
      errors.push(...validateLabels(labels, path('labels')));
      return errors;
    };
    expect(() => listedErrors(find)).toThrow(/too many errors/);
  });

  it('leave other failures alone', () => {
    const find = () => {
      throw new RangeError('bad date');
    };
    expect(() => listedErrors(find)).toThrow('bad date');
  });
});
