import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldAt, readFieldPath } from './definition-paths.js';
import { cellText, readJsonPath } from './json-path.js';
import { JsonPathError } from './json-path-steps.js';

const object = {
  spec: {
    size: 3,
    none: null,
    tags: ['x', 'y', 'z'],
    parts: [
      { name: 'a', size: 1 },
      { name: 'b', size: 2, ok: true },
    ],
    labels: { 'a.b/c': 'd', plain: 'e' },
  },
};

describe('readJsonPath', () => {
  it.each<[string, unknown[]]>([
    ['.spec.size', [3]],
    ['$.spec.size', [3]],
    ['.spec.none', [null]],
    ['.spec.absent.further', []],
    ['.spec.toString', []],
    ['.spec.tags[0]', ['x']],
    ['.spec.tags[-1]', ['z']],
    ['.spec.tags[3]', []],
    ['.spec.tags[1:]', ['y', 'z']],
    ['.spec.tags[:-1]', ['x', 'y']],
    ['.spec.tags[0:3:2]', ['x', 'z']],
    ['.spec.tags[*]', ['x', 'y', 'z']],
    ['.spec.tags[0,2]', ['x', 'z']],
    ['.spec.size[0]', []],
    ['.spec.labels.a\\.b/c', ['d']],
    [".spec.labels['plain']", ['e']],
    [".spec['size','labels'].plain", ['e']],
    ['.spec.labels.*', ['d', 'e']],
    ['..name', ['a', 'b']],
    ['.spec.parts[*].size', [1, 2]],
    ['.spec.parts[?(@.name=="b")].size', [2]],
    [".spec.parts[?(@.name!='b')].size", [1]],
    ['.spec.parts[?(@.size>=2)].name', ['b']],
    ['.spec.parts[?(@.ok)].name', ['b']],
    // The first part has nothing to compare: the whole path finds nothing.
    ['.spec.parts[?(@.ok==true)].name', []],
    ['.spec.parts[?(@.size=="2")].name', []],
    ['.spec.size[?(@.a)]', []],
  ])('%s', (path, found) => {
    expect(readJsonPath(path).find(object)).toEqual(found);
  });

  it.each([
    '.spec.tags[',
    '.spec.tags[a]',
    '.spec.tags[]',
    '.spec.tags[0:2:0]',
    '.a[?(@.b',
    '.a[?(@.b=="c")',
    '.a[?(@.b===1)]',
    '.a[?(@.b==c)]',
    '.a....b',
    '.a{.b}',
    'range .a',
    '.a[?(@.b=="c)]',
    `.${'a'.repeat(5_000)}`,
  ])('%s cannot be read', (path) => {
    expect(() => readJsonPath(path)).toThrow(JsonPathError);
  });

  it('ends whatever is asked', () => {
    const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [index, [index]]));
    const nested = { a: wide, b: { a: wide, b: wide } };
    expect(readJsonPath('...*...*...*...*').find(nested)).toEqual([]);
    const pieces = [
      '.',
      '..',
      '*',
      'a',
      '[',
      ']',
      '[?(',
      ')]',
      '@',
      '==',
      '"',
      '\\',
      '-1',
      ':',
      ',',
    ];
    const paths = fc.array(fc.constantFrom(...pieces), { maxLength: 30 });
    fc.assert(
      fc.property(paths, fc.jsonValue(), (parts, value) => {
        try {
          expect(readJsonPath(parts.join('')).find(value)).toBeInstanceOf(Array);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonPathError);
        }
      }),
    );
  });
});

describe('cells and fields', () => {
  it('prints what was found', () => {
    expect(['a', 1.5, true, null, [1, 'b'], { c: 1, a: { b: [] } }].map(cellText)).toEqual([
      'a',
      '1.5',
      'true',
      '<nil>',
      '[1 b]',
      'map[a:map[b:[]] c:1]',
    ]);
  });

  it('finds the fields of the scale', () => {
    expect(fieldAt(object, readFieldPath('.spec.size'))).toBe(3);
    expect(fieldAt(object, readFieldPath('.spec.tags.0'))).toBeUndefined();
    expect(fieldAt(object, readFieldPath('.spec.constructor'))).toBeUndefined();
  });
});
