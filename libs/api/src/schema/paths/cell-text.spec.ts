import { describe, expect, it } from 'vitest';
import { cellText } from './cell-text.js';
import { fieldAt, readFieldPath } from './definition-paths.js';

describe('cellText', () => {
  it('prints every kind of value', () => {
    expect(['a', 1.5, true, null, [1, 'b'], { c: 1, a: { b: [] } }].map(cellText)).toEqual([
      'a',
      '1.5',
      'true',
      '<nil>',
      '[1 b]',
      'map[a:map[b:[]] c:1]',
    ]);
  });
});

describe('fieldAt', () => {
  const object = { spec: { size: 3, tags: ['x', 'y', 'z'] } };

  it.each<[string, unknown]>([
    ['.spec.size', 3],
    ['.spec.tags.0', undefined],
    ['.spec.constructor', undefined],
  ])('reads %s', (path, value) => {
    expect(fieldAt(object, readFieldPath(path))).toBe(value);
  });
});
