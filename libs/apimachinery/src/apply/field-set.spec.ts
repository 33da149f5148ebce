import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  difference,
  equalSets,
  type FieldSet,
  fieldSetOf,
  hasPath,
  intersection,
  leavesOf,
  noFields,
  pathsOf,
  recursiveDifference,
  union,
} from './field-set.js';
import { fieldSetFromJson } from './field-set-json.js';
import { canonicalElement, compareElements, FieldSetError, pathText } from './path-element.js';
import { textsOf } from './testing/parts.js';

const element = fc.constantFrom(
  'f:a',
  'f:b',
  'f:.',
  'k:{"name":"a"}',
  'k:{"port":9,"protocol":"TCP"}',
  'k:{"port":10,"protocol":"TCP"}',
  'v:"x"',
  'v:2',
  'v:10',
  'i:1',
);
const path = fc.array(element, { minLength: 1, maxLength: 3 });

function setOf(paths: readonly string[][]): FieldSet {
  const node = (steps: readonly string[]): FieldSet =>
    steps.length === 0 ? {} : { [steps[0]!]: node(steps.slice(1)) };
  return paths.reduce<FieldSet>((set, steps) => union(set, node(steps)), noFields);
}

const paths = fc.array(path, { maxLength: 8 });
const texts = (list: readonly string[][]) =>
  [...new Set(list.map((steps) => JSON.stringify(steps)))].sort();

describe('sets of paths, compared with a list of paths', () => {
  it('unites, subtracts and intersects', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const inB = new Set(texts(b));
        expect(textsOf(union(setOf(a), setOf(b)))).toEqual(texts([...a, ...b]));
        expect(textsOf(difference(setOf(a), setOf(b)))).toEqual(
          texts(a).filter((text) => !inB.has(text)),
        );
        expect(textsOf(intersection(setOf(a), setOf(b)))).toEqual(
          texts(a).filter((text) => inB.has(text)),
        );
        expect(equalSets(setOf(a), setOf(b))).toBe(texts(a).join() === texts(b).join());
      }),
    );
  });

  it('subtracts recursively', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const begins = (steps: readonly string[]) =>
          b.some((prefix) => prefix.every((step, index) => steps[index] === step));
        expect(textsOf(recursiveDifference(setOf(a), setOf(b)))).toEqual(
          texts(a.filter((steps) => !begins(steps))),
        );
      }),
    );
  });

  it('lists its paths and its leaves', () => {
    fc.assert(
      fc.property(paths, path, (list, other) => {
        const set = setOf(list);
        expect(hasPath(set, other)).toBe(texts(list).includes(JSON.stringify(other)));
        const leaves = [...pathsOf(set)].filter(
          (steps) =>
            !list.some(
              (longer) =>
                longer.length > steps.length && steps.every((step, at) => longer[at] === step),
            ),
        );
        expect(textsOf(leavesOf(set))).toEqual(texts(leaves));
      }),
    );
  });

  it('round-trips in canonical order', () => {
    const shuffled = (value: FieldSet): FieldSet =>
      Object.fromEntries(
        Object.keys(value)
          .reverse()
          .map((key) => [key, shuffled(value[key]!)]),
      );
    fc.assert(
      fc.property(paths, (list) => {
        const set = setOf(list);
        const text = JSON.stringify(set);
        expect(JSON.stringify(fieldSetFromJson(JSON.parse(text)))).toBe(text);
        expect(JSON.stringify(fieldSetFromJson(shuffled(set)))).toBe(text);
      }),
    );
  });

  it('returns the same set if nothing changes', () => {
    const set = fieldSetOf('data', 'data.a', 'metadata.labels');
    expect(union(set, fieldSetOf('data.a'))).toBe(set);
    expect(difference(set, fieldSetOf('data.b'))).toBe(set);
    expect(fieldSetFromJson(set)).toBe(set);
  });
});

describe('the text of a set', () => {
  it('is that of the interface', () => {
    const set = setOf([
      ['f:spec', 'f:ports', 'k:{"port":443,"protocol":"TCP"}'],
      ['f:spec', 'f:ports', 'k:{"port":80,"protocol":"TCP"}', 'f:name'],
      ['f:spec', 'f:ports', 'k:{"port":80,"protocol":"TCP"}'],
      ['f:metadata', 'f:finalizers', 'v:"b"'],
      ['f:metadata', 'f:finalizers', 'v:"a"'],
    ]);
    expect(JSON.stringify(set)).toBe(
      '{"f:metadata":{"f:finalizers":{"v:\\"a\\"":{},"v:\\"b\\"":{}}},"f:spec":{"f:ports":{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:name":{}},"k:{\\"port\\":443,\\"protocol\\":\\"TCP\\"}":{}}}}',
    );
  });

  it('has canonical keys in order', () => {
    const json = {
      'k:{"protocol": "TCP", "port": 80}': { '.': {} },
      'f:a': { 'f:b': {}, '.': {} },
    };
    expect(JSON.stringify(fieldSetFromJson(json))).toBe(
      '{"f:a":{".":{},"f:b":{}},"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{}}',
    );
  });

  it('may hold unknown kinds of steps, which are skipped', () => {
    expect(fieldSetFromJson({ 'f:a': {}, 'z:new': {} })).toEqual({ 'f:a': {} });
  });

  it.each([{ 'f:a': 1 }, { a: {} }, { 'v:{': {} }, { 'k:1': {} }, { 'i:x': {} }, [], null])(
    'is rejected if it is %j',
    (json) => {
      expect(() => fieldSetFromJson(json)).toThrow(FieldSetError);
    },
  );

  it('is rejected if it is nested too deeply', () => {
    let json = {};
    for (let depth = 0; depth < 10_000; depth += 1) json = { 'f:a': json };
    expect(() => fieldSetFromJson(json)).toThrow(FieldSetError);
  });

  it.each(['v', 'k'])('is rejected if a step %s is nested too deeply', (kind) => {
    const value = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    expect(() => fieldSetFromJson({ [`${kind}:${value}`]: {} })).toThrow(FieldSetError);
  });
});

describe('steps', () => {
  it('have the order of the interface', () => {
    const steps = ['f:Z', 'f:a', 'f:\uff5e', 'f:\u{1f600}', 'k:{"a":2}', 'k:{"a":10}', 'k:{"b":1}'];
    const values = ['v:2', 'v:10', 'v:"a"', 'v:false', 'v:true', 'v:null', 'i:2', 'i:10'];
    const inOrder = [...steps, ...values];
    expect(inOrder.toReversed().sort(compareElements)).toEqual(inOrder);
  });

  it('are formatted for messages', () => {
    const text = pathText(['f:a', 'k:{"port":80,"protocol":"TCP"}', 'v:"x"', 'i:3', 'f:b']);
    expect(text).toBe('.a[port=80,protocol="TCP"][="x"][3].b');
  });

  it('have one canonical text', () => {
    expect(canonicalElement('k:{ "b" : 1, "a" : "x" }')).toBe('k:{"a":"x","b":1}');
    expect(canonicalElement('v: "x"')).toBe('v:"x"');
  });
});
