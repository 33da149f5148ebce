import { describe, expect, it } from 'vitest';
import { StatusError } from '../status/status-error.js';
import { applyJsonPatch } from './json-patch.js';
import type { Json, JsonObject } from './json-values.js';
import { applyMergePatch } from './merge-patch.js';
import { freeFormShape, type MergeSchema } from './merge-schema.js';
import { applyStrategicMergePatch } from './strategic-merge.js';

function failure(run: () => unknown): { code: number; message: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return { code: error.code, message: error.message };
  }
  throw new Error('nothing was refused');
}

describe('JSON patch', () => {
  const document: Json = { data: { one: '1' }, list: ['a', 'b'] };
  it.each<[string, Json, Json]>([
    ['adds', [{ op: 'add', path: '/data/x', value: 'y' }], { one: '1', x: 'y' }],
    [
      'replaces what is absent',
      [{ op: 'replace', path: '/data/n', value: 'x' }],
      { one: '1', n: 'x' },
    ],
    ['unescapes', [{ op: 'add', path: '/data/a~1b~0c', value: 'v' }], { one: '1', 'a/b~c': 'v' }],
    ['tests null on absent', [{ op: 'test', path: '/data/none', value: null }], { one: '1' }],
    ['moves', [{ op: 'move', from: '/data/one', path: '/data/two' }], { two: '1' }],
    ['drops the first part', [{ op: 'add', path: 'root/x', value: 1 }], { one: '1' }],
  ])('%s', (_, patch, data) => {
    expect(applyJsonPatch(document, patch)).toMatchObject({ data });
    expect(document.data).toEqual({ one: '1' });
  });

  it('edits lists', () => {
    const patch: Json = [
      { op: 'add', path: '/list/1', value: 'x' },
      { op: 'add', path: '/list/-', value: 'z' },
      { op: 'remove', path: '/list/0' },
    ];
    expect(applyJsonPatch(document, patch)).toMatchObject({ list: ['x', 'b', 'z'] });
  });

  it.each<[string, Json]>([
    ['failed test', [{ op: 'test', path: '/data/one', value: '2' }]],
    ['remove absent', [{ op: 'remove', path: '/data/none' }]],
    ['below absent', [{ op: 'add', path: '/none/x', value: 1 }]],
    ['unknown operation', [{ op: 'frob', path: '/data/one' }]],
    ['no path', [{ op: 'add', value: 1 }]],
    ['index too high', [{ op: 'add', path: '/list/5', value: 1 }]],
  ])('rejects: %s', (_, patch) => {
    expect(failure(() => applyJsonPatch(document, patch))).toEqual({
      code: 422,
      message: 'the server rejected our request due to an error in our request',
    });
  });

  it('rejects a patch that is not a list or too long', () => {
    expect(failure(() => applyJsonPatch(document, { op: 'add' })).message).toBe(
      'json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    );
    const long = Array.from({ length: 10_002 }, () => ({ op: 'test', path: '/x', value: null }));
    expect(failure(() => applyJsonPatch(document, long))).toEqual({
      code: 413,
      message:
        'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10002',
    });
  });
});

describe('a patch that is nested too deeply', () => {
  const nested: Json = JSON.parse(`${'{"a":['.repeat(20_000)}${']}'.repeat(20_000)}`);
  it.each<[string, () => unknown]>([
    ['JSON', () => applyJsonPatch({}, [{ op: 'add', path: '/x', value: nested }])],
    [
      'JSON, one value below the other',
      () =>
        applyJsonPatch(
          {},
          Array.from({ length: 1_100 }, (_, i) => ({
            op: 'add',
            path: '/a'.repeat(i + 1),
            value: {},
          })),
        ),
    ],
    ['merge', () => applyMergePatch({}, { x: nested })],
    ['strategic', () => applyStrategicMergePatch({}, { x: nested }, freeFormShape)],
  ])('is rejected as a bad request: %s', (_, run) => {
    expect(failure(run)).toEqual({
      code: 400,
      message: 'patch is nested deeper than 1000 levels',
    });
  });
});

describe('JSON patch copies', () => {
  it('are limited in total size', () => {
    const copies = Array.from({ length: 40 }, (_, i) => ({
      op: 'copy',
      from: '/a',
      path: `/a/${i}`,
    }));
    const patch: Json = [{ op: 'add', path: '/a', value: { text: 'x'.repeat(1_000) } }, ...copies];
    expect(failure(() => applyJsonPatch({}, patch)).code).toBe(422);
    expect(() => applyJsonPatch({}, patch.slice(0, 10))).not.toThrow();
  });
});

describe('merge patch', () => {
  it('merges maps, removes nulls, replaces the rest', () => {
    const document = { a: { b: 1, c: 2 }, l: [1, 2] };
    expect(applyMergePatch(document, { a: { b: null, d: 3 }, l: [3], n: { x: null } })).toEqual({
      a: { c: 2, d: 3 },
      l: [3],
      n: {},
    });
    expect(document).toEqual({ a: { b: 1, c: 2 }, l: [1, 2] });
  });
  it('treats a key with an inherited name as data', () => {
    const patched = applyMergePatch({}, JSON.parse('{"__proto__":{"x":1}}'));
    expect(JSON.stringify(patched)).toBe('{"__proto__":{"x":1}}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});

const env: MergeSchema = freeFormShape;
const container: MergeSchema = {
  field: (name) =>
    name === 'env' ? { merge: true, mergeKey: 'name', shape: env } : { merge: false },
};
const pod: MergeSchema = {
  field: (name) => {
    if (name === 'containers') return { merge: true, mergeKey: 'name', shape: container };
    if (name === 'finalizers') return { merge: true };
    return { merge: false };
  },
};
const merge = (document: JsonObject, patch: JsonObject) =>
  applyStrategicMergePatch(document, patch, pod);

describe('strategic merge patch', () => {
  const document: JsonObject = {
    containers: [
      {
        name: 'a',
        image: 'a:1',
        env: [
          { name: 'X', value: '1' },
          { name: 'Y', value: '2' },
        ],
      },
      { name: 'b', image: 'b:1' },
    ],
    labels: { a: '1', b: '2' },
  };
  const names = (result: JsonObject) =>
    (result.containers as JsonObject[]).map((item) => item.name);

  it('merges elements by key and adds new ones first', () => {
    const result = merge(document, { containers: [{ name: 'c', image: 'c:1' }] });
    expect(names(result)).toEqual(['c', 'a', 'b']);
  });
  it('keeps the order of the server', () => {
    const patch = {
      containers: [
        {
          name: 'a',
          env: [
            { name: 'Y', value: '22' },
            { name: 'Z', value: '3' },
          ],
        },
      ],
    };
    const [first] = merge(document, patch).containers as JsonObject[];
    expect(first?.env).toEqual([
      { name: 'X', value: '1' },
      { name: 'Y', value: '22' },
      { name: 'Z', value: '3' },
    ]);
    expect(first?.image).toBe('a:1');
  });
  it('deletes and replaces elements and maps', () => {
    expect(names(merge(document, { containers: [{ name: 'b', $patch: 'delete' }] }))).toEqual([
      'a',
    ]);
    expect(
      merge(document, { containers: [{ name: 'n' }, { $patch: 'replace' }] }).containers,
    ).toEqual([{ name: 'n' }]);
    expect(merge(document, { labels: { only: 'x', $patch: 'replace' } }).labels).toEqual({
      only: 'x',
    });
    expect(merge(document, { labels: { $patch: 'delete' } }).labels).toEqual({});
  });
  it('adds to, deletes from and orders lists of scalars', () => {
    const list: JsonObject = { finalizers: ['a', 'b', 'c'] };
    expect(merge(list, { finalizers: ['d'] }).finalizers).toEqual(['d', 'a', 'b', 'c']);
    expect(merge(list, { '$deleteFromPrimitiveList/finalizers': ['b'] }).finalizers).toEqual([
      'a',
      'c',
    ]);
    expect(merge(list, { '$setElementOrder/finalizers': ['c', 'a', 'b'] }).finalizers).toEqual([
      'c',
      'a',
      'b',
    ]);
  });
  it('ignores an empty order, and absent lists', () => {
    expect(merge(document, { '$setElementOrder/containers': [] })).toEqual(document);
    expect(merge(document, { '$setElementOrder/volumes': [{ name: 'v' }] })).toEqual(document);
    expect(merge(document, { '$deleteFromPrimitiveList/finalizers': ['a'] })).toEqual(document);
    expect(merge(document, { containers: [{ $patch: 'replace' }] }).containers).toEqual([]);
  });
  it('orders elements', () => {
    const order = [{ name: 'z' }, { name: 'b' }, { name: 'a' }];
    const patch = { '$setElementOrder/containers': order, containers: [{ name: 'z' }] };
    expect(names(merge(document, patch))).toEqual(['z', 'b', 'a']);
  });
  it('retains the named keys only', () => {
    const strategy: JsonObject = { strategy: { type: 'R', rolling: { x: 1 } } };
    const patch = { strategy: { $retainKeys: ['type'], type: 'Recreate' } };
    expect(merge(strategy, patch)).toEqual({ strategy: { type: 'Recreate' } });
  });
  it.each<[JsonObject, number, RegExp]>([
    [{ containers: [{ name: 'a', $patch: 'frob' }] }, 400, /^unknown patch type: frob in map: /],
    [{ containers: [{ name: 'a', $patch: 'merge' }] }, 400, /^merging lists cannot yet be/],
    [{ labels: { a: '3', $patch: 'merge' } }, 400, /^unknown patch type: merge in map: /],
    [{ $patch: { toString: {} } }, 400, /^unknown patch type: {"toString":{}} in map: /],
    [{ containers: [{ image: 'x' }] }, 400, /does not contain declared merge key: name$/],
    [{ labels: { $retainKeys: ['a'], b: '3' } }, 400, /^invalid patch format of retainKeys$/],
    [
      { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a' }] },
      400,
      /^The order in patch list:\n.*\n doesn't match \$setElementOrder list:\n/,
    ],
  ])('rejects %j', (patch, code, message) => {
    const refused = failure(() => merge(document, patch));
    expect(refused.code).toBe(code);
    expect(refused.message).toMatch(message);
  });
});
