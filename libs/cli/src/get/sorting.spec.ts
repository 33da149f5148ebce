import { describe, expect, it } from 'vitest';
import { CliError, UsageError } from '../command-line/errors.js';
import { sortedBy } from './sorting.js';

describe('sortedBy', () => {
  const sorted = (values: unknown[], path = '.v') =>
    sortedBy(
      values.map((v) => ({ v })),
      path,
      (item) => item,
    ).map(({ v }) => v);

  it.each([
    ['numbers by amount', [10, 9, -1, 0.5], [-1, 0.5, 9, 10]],
    ['quantities by amount', ['1Gi', '900Mi', '2', '1500m'], ['1500m', '2', '900Mi', '1Gi']],
    ['texts in natural order', ['web-10', 'web-2', 'Web', 'a'], ['Web', 'a', 'web-2', 'web-10']],
    ['digits before letters', ['ab', 'a', 'a1', 'a-'], ['a', 'a1', 'a-', 'ab']],
    ['fewer zeros first', ['a01', 'a1', 'a001b'], ['a1', 'a01', 'a001b']],
    [
      'times',
      ['2021-10-01T00:00:00Z', '2021-09-30T00:00:00Z'],
      ['2021-09-30T00:00:00Z', '2021-10-01T00:00:00Z'],
    ],
    ['missing values first', ['b', undefined, 'a', null], [undefined, null, 'a', 'b']],
  ])('sorts %s', (_, values, expected) => {
    expect(sorted(values)).toEqual(expected);
  });

  it.each(['v', '.v', '{v}', '{.v}'])('accepts the path %s', (path) => {
    expect(sorted([2, 1], path)).toEqual([1, 2]);
  });

  it('sorts by the first of several values', () => {
    const values = [{ list: [{ a: 2 }, { a: 0 }] }, { list: [{ a: 1 }, { a: 3 }] }];
    expect(sorted(values, '.v.list[*].a')).toEqual([values[1], values[0]]);
  });

  it('rejects paths that no object has, unless there is no object', () => {
    expect(() => sorted([1], '.w.x')).toThrow(
      new CliError('couldn\'t find any field with path "{.w.x}" in the list of objects'),
    );
    expect(sorted([], '.w.x')).toEqual([]);
  });

  it('rejects values without an order', () => {
    expect(() => sorted([true, false])).toThrow('Field {.v} is an unsortable type: boolean');
    expect(() => sorted([{}, {}])).toThrow('Field {.v} is an unsortable type: map');
    expect(() => sorted([1, 'a'])).toThrow('Field {.v} is an unsortable type: ');
    expect(sorted([true])).toEqual([true]);
  });

  it.each(['{.a}{.b}', '{', 'a}', '.a['])('rejects the path %s', (path) => {
    expect(() => sorted([], path)).toThrow(UsageError);
  });
});
