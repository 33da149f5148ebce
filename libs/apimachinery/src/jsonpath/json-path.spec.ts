import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonPath } from './json-path.js';
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

describe('readJsonPath with the strict syntax', () => {
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
    // The first part has no `ok` to compare, so the whole path finds nothing.
    ['.spec.parts[?(@.ok==true)].name', []],
    ['.spec.parts[?(@.size=="2")].name', []],
    ['.spec.size[?(@.a)]', []],
  ])('finds the values of %s', (path, found) => {
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
  ])('rejects %s', (path) => {
    expect(() => readJsonPath(path)).toThrow(JsonPathError);
  });

  it('terminates for every path and value', () => {
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

describe('readJsonPath with the relaxed syntax', () => {
  const value = {
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }, { type: 'X' }] },
    metadata: { labels: { 'a.b/c': '1' } },
    n: [1, 2, 3],
    none: null,
  };

  it.each<[string, unknown[]]>([
    ['.status.phase', ['Running']],
    ['{.status.phase}', ['Running']],
    ['status.phase', ['Running']],
    ["$.metadata.labels['a.b/c']", ['1']],
    ['.metadata.labels["a.b/c"]', ['1']],
    ['.metadata.labels.a\\.b/c', ['1']],
    ['.metadata.labels[*]', ['1']],
    ['.n[-1]', [3]],
    ['.n.[0]', [1]],
    ['.n[7]', []],
    ['.n[0:2]', [1, 2]],
    ['.n[1:9]', [2, 3]],
    ['.n[0,2]', [1, 3]],
    ['.n[*]', [1, 2, 3]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ['.status.conditions[?(@.type == Ready)].status', ['True']],
    ['.status.conditions[?(@.status!="False")].type', ['Ready']],
    ['.status.conditions[?(@.status)].type', ['Ready']],
    ['.status.phase[?(@.status)]', []],
    ['..type', ['Ready', 'X']],
    ['.none', []],
    ['.nowhere.at.all', []],
    ['.', [value]],
  ])('finds the values of %s', (path, found) => {
    expect(readJsonPath(path, 'relaxed').find(value)).toEqual(found);
  });

  it('finds every value of a large object', () => {
    const items = Array.from({ length: 60_000 }, (_, index) => ({ index }));
    expect(readJsonPath('.items[*].index', 'relaxed').find({ items })).toHaveLength(60_000);
    expect(readJsonPath('.items[*].index').find({ items })).toEqual([]);
  });

  it('reports the position of an error', () => {
    const read = () => readJsonPath('.a[', 'relaxed');
    expect(read).toThrow(
      expect.objectContaining({ unreadText: '[', message: 'unterminated array' }),
    );
  });
});
