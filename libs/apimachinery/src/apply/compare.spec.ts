import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../patch/json-values.js';
import { compareObjects, isUnchanged } from './compare.js';
import { difference, intersection, isEmptySet, union } from './field-set.js';
import { fieldsOf } from './fields-of.js';
import { reconciled, withNamedFields, withoutItems } from './remove.js';
import { listOf, mapOf, type ScalarShape, type Shape, shapeOf, structOf } from './shape.js';
import { arbitraryParts, partsShape } from './testing/parts.js';
import { checkTyped, TypedError } from './typed.js';

const pod = shapeOf('core/v1.Pod');

describe('the difference', () => {
  it('lists fields and elements by kind of change', () => {
    const before: JsonObject = {
      metadata: { labels: { a: '1', b: '1' } },
      spec: {
        nodeName: 'n',
        containers: [
          { name: 'a', image: 'a:1', args: ['x'] },
          { name: 'b', image: 'b:1' },
        ],
      },
    };
    const after: JsonObject = {
      metadata: { labels: { a: '2', c: '1' }, annotations: { k: 'v' } },
      spec: {
        hostname: 'h',
        containers: [
          { name: 'c', image: 'c:1', resources: {}, ports: [{ containerPort: 80 }] },
          { name: 'a', image: 'a:1', args: ['x', 'y'] },
        ],
      },
    };
    expect(compareObjects(pod, before, after)).toEqual({
      added: {
        'f:metadata': { 'f:annotations': { '.': {}, 'f:k': {} }, 'f:labels': { 'f:c': {} } },
        'f:spec': {
          'f:containers': {
            'k:{"name":"c"}': {
              '.': {},
              'f:image': {},
              'f:name': {},
              'f:ports': {
                '.': {},
                'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
              },
              'f:resources': {},
            },
          },
          'f:hostname': {},
        },
      },
      modified: {
        'f:metadata': { 'f:labels': { 'f:a': {} } },
        'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:args': {} } } },
      },
      removed: {
        'f:metadata': { 'f:labels': { 'f:b': {} } },
        'f:spec': {
          'f:containers': {
            'k:{"name":"b"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} },
          },
          'f:nodeName': {},
        },
      },
    });
  });

  it('compares absent always-present fields by their default', () => {
    const added = compareObjects(pod, {}, { spec: { containers: [{ name: 'a' }] } }).added;
    expect(added).toEqual({
      'f:spec': {
        'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:resources': {} } },
      },
    });
    const condition = { type: 'Ready', status: 'True' };
    expect(compareObjects(pod, {}, { status: { conditions: [condition] } }).added).toEqual({
      'f:status': {
        'f:conditions': {
          '.': {},
          'k:{"type":"Ready"}': {
            '.': {},
            'f:lastProbeTime': {},
            'f:lastTransitionTime': {},
            'f:status': {},
            'f:type': {},
          },
        },
      },
    });
    const event = shapeOf('core/v1.Event');
    expect(isUnchanged(compareObjects(event, {}, { reportingComponent: '', source: {} }))).toBe(
      true,
    );
  });

  it('distinguishes null, empty and absent', () => {
    const shape = shapeOf('core/v1.ConfigMap');
    expect(compareObjects(shape, { data: null }, { data: {} }).modified).toEqual({ 'f:data': {} });
    expect(compareObjects(shape, {}, { data: {} }).added).toEqual({ 'f:data': {} });
    expect(compareObjects(shape, { data: null }, { data: { a: 'x' } }).added).toEqual({
      'f:data': { 'f:a': {} },
    });
  });

  it('treats names as data', () => {
    const after = JSON.parse('{"labels":{"__proto__":"x","constructor":"y"}}');
    const added = { 'f:labels': { 'f:__proto__': {}, 'f:constructor': {} } };
    expect(compareObjects(partsShape, { labels: { a: '1' } }, after).added).toEqual(added);
    expect(compareObjects(partsShape, after, { labels: { a: '1' } }).removed).toEqual(added);
  });

  it('is empty for equal objects in any order of members', () => {
    fc.assert(
      fc.property(arbitraryParts, (object) => {
        const twin = Object.fromEntries(Object.entries(object).reverse());
        expect(isUnchanged(compareObjects(partsShape, object, structuredClone(twin)))).toBe(true);
      }),
    );
  });

  it('is symmetric, and has one change per field', () => {
    fc.assert(
      fc.property(arbitraryParts, arbitraryParts, (a, b) => {
        const there = compareObjects(partsShape, a, b);
        const back = compareObjects(partsShape, b, a);
        expect(there.added).toEqual(back.removed);
        expect(there.removed).toEqual(back.added);
        expect(there.modified).toEqual(back.modified);
        expect(isEmptySet(intersection(there.added, there.removed))).toBe(true);
      }),
    );
  });
});

describe('large objects', () => {
  const count = 50_000;

  // A quadratic algorithm would take minutes here.
  it('are compared in linear time', () => {
    const items = Array.from({ length: count }, (_, index) => ({ name: `n${count - index}` }));
    const labels = Object.fromEntries(items.map(({ name }) => [name, 'x']));
    compareObjects(partsShape, {}, { items, labels });
    compareObjects(
      partsShape,
      { items, labels },
      { items: items.toReversed().slice(1), labels: {} },
    );
    const all = fieldsOf(partsShape, { items, labels });
    const labelled = fieldsOf(partsShape, { labels });
    expect(difference(all, labelled)).toEqual(fieldsOf(partsShape, { items }));
    expect(union(labelled, all)).toEqual(all);
  });

  it('are rejected if they are nested too deeply', () => {
    const free: Json = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(() => checkTyped(partsShape, { free })).toThrow(TypedError);
  });
});

describe('a type error', () => {
  const cases: [string, unknown, string][] = [
    ['an unknown field', { spek: {} }, '.spek: field not declared in schema'],
    ['a wrong scalar', { spec: { nodeName: 7 } }, '.spec.nodeName: expected string, got number 7'],
    [
      'a wrong number',
      { spec: { priority: 'x' } },
      '.spec.priority: expected numeric (int or float), got string',
    ],
    ['no map', { metadata: { labels: 'x' } }, '.metadata.labels: expected map, got string "x"'],
    ['no list', { spec: { containers: {} } }, '.spec.containers: expected list, got map'],
    [
      'the same key twice',
      { spec: { containers: [{ name: 'a' }, { name: 'a' }] } },
      '.spec.containers: duplicate entries for key [name="a"]',
    ],
    [
      'the same value twice',
      { metadata: { finalizers: ['a', 'a'] } },
      '.metadata.finalizers: duplicate entries for key [="a"]',
    ],
    [
      'no key',
      { spec: { containers: [{ image: 'a' }] } },
      '.spec.containers: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)',
    ],
    [
      'a null element',
      { spec: { containers: [null] } },
      '.spec.containers: element 0: associative list with keys may not have a null element',
    ],
  ];
  it.each(cases)('%s', (_, value, message) => {
    expect(() => checkTyped(pod, value as never)).toThrow(new TypedError([message]));
  });

  it('is reported with all others', () => {
    expect(() => checkTyped(pod, { a: 1, spec: { b: 1 } })).toThrow(
      'errors:\n  .a: field not declared in schema\n  .spec.b: field not declared in schema',
    );
  });

  it('is not reported for quantities, times and null, which accept any scalar', () => {
    const limits = { cpu: 1, memory: '1Gi' };
    const value = { spec: { nodeName: null, containers: [{ name: 'a', resources: { limits } }] } };
    expect(() => checkTyped(pod, value)).not.toThrow();
  });

  it('is found by comparison as well, with its path', () => {
    const twice = { spec: { containers: [{ name: 'a', env: [{ name: 'X' }, { name: 'X' }] }] } };
    expect(() => compareObjects(pod, { spec: {} }, twice)).toThrow(
      '.spec.containers[name="a"].env: duplicate entries for key [name="X"]',
    );
  });
});

describe('removing', () => {
  it('removes the named fields and leaves null for emptied values', () => {
    const object = { labels: { a: '1' }, tags: ['x', 'y'], text: 't', whole: ['a'] };
    const removed = { 'f:labels': { 'f:a': {} }, 'f:tags': { 'v:"x"': {} }, 'f:text': {} };
    expect(withoutItems(partsShape, object, removed)).toEqual({
      labels: null,
      tags: ['y'],
      whole: ['a'],
    });
  });

  it('everything leaves nothing', () => {
    fc.assert(
      fc.property(arbitraryParts, (object) => {
        const all = withNamedFields(fieldsOf(partsShape, object), partsShape);
        const left = withoutItems(partsShape, object, all) ?? {};
        const lists = Object.values(left as object).filter((value) => value !== null);
        // Empty lists have no owner.
        expect(lists.every((value) => Array.isArray(value) && value.length === 0)).toBe(true);
      }),
    );
  });
});

describe('sets of a type that has changed', () => {
  const scalar: ScalarShape = { kind: 'scalar', type: 'string' };
  it('own the whole value if it became atomic', () => {
    const shape = structOf(
      new Map<string, Shape>([
        ['list', listOf(scalar, 'atomic')],
        ['map', mapOf(scalar)],
      ]),
    );
    const set = { 'f:list': { 'v:"a"': {} }, 'f:map': { 'f:a': {} } };
    expect(reconciled(set, shape)).toEqual({ 'f:list': {}, 'f:map': { 'f:a': {} } });
    const parts = { 'f:map': { 'f:a': {} } };
    expect(reconciled(parts, shape)).toBe(parts);
  });
});
