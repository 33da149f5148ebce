import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../patch/json-values.js';
import { mergeObjects } from './merge.js';
import { shapeOf } from './shape.js';
import { arbitraryParts, partsShape } from './testing/parts.js';
import { TypedError } from './typed.js';

const pod = shapeOf('core/v1.Pod');

describe('merging a configuration', () => {
  it('sets the named fields by element and keeps the rest', () => {
    const live: JsonObject = {
      metadata: { finalizers: ['x.y/a', 'x.y/b'], labels: { a: '1', b: '1' } },
      spec: {
        nodeName: 'n',
        nodeSelector: { zone: 'z' },
        tolerations: [{ key: 'a' }],
        containers: [
          { name: 'a', image: 'a:1', ports: [{ containerPort: 80, protocol: 'TCP' }] },
          { name: 'b', image: 'b:1' },
        ],
      },
    };
    const config: JsonObject = {
      metadata: { finalizers: ['x.y/c', 'x.y/a'], labels: { b: '2' } },
      spec: {
        tolerations: [{ key: 'b' }],
        nodeSelector: { disk: 'ssd' },
        containers: [
          { name: 'c', image: 'c:1' },
          {
            name: 'a',
            ports: [
              { containerPort: 80, name: 'http' },
              { containerPort: 80, protocol: 'UDP' },
            ],
          },
        ],
      },
    };
    expect(mergeObjects(pod, live, config)).toEqual({
      metadata: { finalizers: ['x.y/a', 'x.y/b', 'x.y/c'], labels: { a: '1', b: '2' } },
      spec: {
        nodeName: 'n',
        nodeSelector: { zone: 'z', disk: 'ssd' },
        tolerations: [{ key: 'b' }],
        containers: [
          {
            name: 'a',
            image: 'a:1',
            ports: [
              { containerPort: 80, protocol: 'TCP', name: 'http' },
              { containerPort: 80, protocol: 'UDP' },
            ],
          },
          { name: 'b', image: 'b:1' },
          { name: 'c', image: 'c:1' },
        ],
      },
    });
  });

  it('treats null as a value, except for maps and lists', () => {
    const live = { text: 't', labels: { a: '1' }, tags: ['a'], whole: ['a'] };
    const config = { text: null, labels: null, tags: null, whole: null };
    expect(mergeObjects(partsShape, live, config)).toEqual({
      text: null,
      labels: { a: '1' },
      tags: ['a'],
      whole: null,
    });
  });

  it('is rejected for duplicate elements', () => {
    expect(() => mergeObjects(partsShape, { tags: ['a'] }, { tags: ['b', 'b'] })).toThrow(
      TypedError,
    );
  });

  it('is idempotent and changes neither side', () => {
    fc.assert(
      fc.property(arbitraryParts, arbitraryParts, (live, config) => {
        const liveBefore = structuredClone(live);
        const configBefore = structuredClone(config);
        const merged = mergeObjects(partsShape, live, config);
        expect(mergeObjects(partsShape, merged, config)).toEqual(merged);
        expect(live).toEqual(liveBefore);
        expect(config).toEqual(configBefore);
        expect(mergeObjects(partsShape, live, live)).toEqual(live);
        expect(mergeObjects(partsShape, {}, config)).toEqual(config);
      }),
    );
  });

  it('treats names as data', () => {
    const config = JSON.parse('{"labels":{"__proto__":"x","constructor":"y"}}');
    const merged = mergeObjects(partsShape, { labels: { a: '1' } }, config) as {
      labels: object;
    };
    expect(Object.keys(merged.labels)).toEqual(['a', '__proto__', 'constructor']);
  });
});
