import { describe, expect, it } from 'vitest';
import { parseFieldSelector } from './field-selector.js';
import { labelSelectorFromObject, parseLabelSelector } from './label-selector.js';
import { SelectorError } from './requirement.js';

describe('label selectors', () => {
  it.each([
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a!=b', {}, true],
    ['a in (b,c),d notin (e)', { a: 'c' }, true],
    ['a in (b,c),d notin (e)', { a: 'c', d: 'e' }, false],
    ['a in (,b)', { a: '' }, true],
    ['!a', { a: '' }, false],
    ['a', { a: '' }, true],
    ['a>1', { a: '2' }, true],
    ['a<1', { a: 'x' }, false],
    ['in in (in)', { in: 'in' }, true],
    ['', { any: 'thing' }, true],
    ['constructor', {}, false],
    ['!constructor', {}, true],
    ['constructor!=a', {}, true],
    ['constructor notin (a)', { constructor: 'a' }, false],
    ['constructor in (a),toString>1', { constructor: 'a', toString: '2' }, true],
  ])('%s on %j is %s', (text, labels, expected) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(expected);
  });

  it.each([
    ['a==b==c', "found '==', expected: ',' or 'end of string'"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a ~ b', "unable to parse requirement: found '~', expected: '=', '!=', '==', 'in', notin'"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['a in ', "unable to parse requirement: found '' expected: '('"],
    [
      'a>b',
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])('rejects %s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(new SelectorError(message));
  });

  it('rejects invalid label keys', () => {
    expect(() => parseLabelSelector('a//b=c')).toThrow(
      /^unable to parse requirement: <nil>: Invalid value: "a\/\/b": a qualified name must/,
    );
  });

  it('distinguishes an absent object from an empty one', () => {
    expect(labelSelectorFromObject(undefined).matches({})).toBe(false);
    expect(labelSelectorFromObject({}).matches({})).toBe(true);
  });

  it('has a text form', () => {
    const selector = labelSelectorFromObject({
      matchLabels: { b: '1' },
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['y', 'x'] },
        { key: 'c', operator: 'DoesNotExist' },
      ],
    });
    expect(selector.toString()).toBe('a in (x,y),b=1,!c');
  });
});

describe('field selectors', () => {
  const read = (field: string) => ({ 'metadata.name': 'a,b' })[field] ?? '';
  it('unescapes values and combines terms with AND', () => {
    expect(parseFieldSelector('metadata.name=a\\,b,spec.x!=y').matches(read)).toBe(true);
    expect(parseFieldSelector('metadata.name!=a\\,b').matches(read)).toBe(false);
    expect(parseFieldSelector('metadata.name==q').exactValue('metadata.name')).toBe('q');
  });
  it.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['metadata.name in (a,b)', "invalid selector: 'metadata.name in (a,b)'; can't understand 'b)'"],
    ['metadata.name=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
  ])('rejects %s', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(new SelectorError(message));
  });
});
