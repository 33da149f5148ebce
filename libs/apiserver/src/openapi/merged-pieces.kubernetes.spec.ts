import { selectDialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { convertToVersion3 } from './convert-to-version3.js';
import type { Piece } from './document.js';
import { jsonOfVersion2 } from './json-document.js';
import { mergedPieces } from './merged-pieces.js';
import { protobufPiece } from './protobuf-document.js';

selectDialect('kubernetes');

const own: Piece[] = [
  { section: 'paths', name: '/api/v1/', value: { parameters: [] } },
  { section: 'definitions', name: 'Meta', value: { type: 'object', description: 'ours' } },
];

const ware = {
  get: {
    operationId: 'listWares',
    parameters: [{ $ref: '#/parameters/limit' }, { name: 'x-other', in: 'header', type: 'string' }],
    responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/Ware' } } },
  },
};

const document = {
  paths: {
    '/apis/wares.example.com/v1/wares': ware,
    '/apis/other.example.com/v1/': ware,
    '/api/v1/': ware,
  },
  parameters: { limit: { name: 'limit', in: 'query', type: 'integer' } },
  definitions: {
    Ware: { type: 'object', properties: { meta: { $ref: '#/definitions/Meta' } } },
    Meta: { type: 'object', description: 'theirs' },
    Unused: { type: 'object' },
  },
};

interface Document {
  readonly paths: Record<string, unknown>;
  readonly definitions: Record<string, unknown>;
}

function merged(...values: unknown[]): Document {
  const foreign = values.map((value) => ({ group: 'wares.example.com', value }));
  return JSON.parse([...jsonOfVersion2(mergedPieces(own, foreign))].join('')) as Document;
}

describe('the merged document', () => {
  it('has the paths of the group, and every definition', () => {
    const { paths, definitions } = merged(document);
    expect(Object.keys(paths)).toEqual(['/api/v1/', '/apis/wares.example.com/v1/wares']);
    expect(paths['/apis/wares.example.com/v1/wares']).toMatchObject({
      get: {
        operationId: 'listWares',
        parameters: [{ name: 'limit', in: 'query', type: 'integer' }],
        responses: { 200: { schema: { $ref: '#/definitions/Ware' } } },
      },
    });
    expect(Object.keys(definitions)).toEqual(['Meta', 'Ware', 'Meta_v2', 'Unused']);
  });

  it('keeps our definition if another has its name, and refers to both', () => {
    const { definitions } = merged(document);
    expect(definitions).toMatchObject({
      Meta: { description: 'ours' },
      Meta_v2: { description: 'theirs' },
      Ware: { properties: { meta: { $ref: '#/definitions/Meta_v2' } } },
    });
  });

  it('has a definition of two servers once', () => {
    expect(merged(document, structuredClone(document))).toEqual(merged(document));
  });

  it.each([
    [null],
    ['text'],
    [{ paths: [], definitions: 'none' }],
    [{ paths: { '/apis/wares.example.com/': 7 }, definitions: { Ware: [1], Other: null } }],
    [{ paths: { '/apis/wares.example.com/': { get: { responses: [], parameters: [3, {}] } } } }],
  ])('can be written in both formats with the document %j', (value) => {
    const pieces = [...mergedPieces(own, [{ group: 'wares.example.com', value }])];
    expect(() => pieces.map(protobufPiece)).not.toThrow();
    expect(merged(value).paths).toHaveProperty(['/api/v1/']);
  });

  it('has no reference to a definition that does not exist', () => {
    const { definitions } = merged({
      definitions: { Ware: { items: { $ref: '#/definitions/X' } } },
    });
    expect(definitions.Ware).toEqual({ items: {} });
  });

  it('ends schemas that are nested too deeply', () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 5_000; level += 1) deep = { items: deep };
    expect(() => merged({ definitions: { Deep: deep } })).not.toThrow();
  });
});

describe('a document converted to version 3', () => {
  it('has the paths of the group version with references to components', () => {
    const path = '/apis/wares.example.com/v1';
    expect(convertToVersion3(document, 'wares.example.com', path)).toMatchObject({
      openapi: '3.0.0',
      paths: {
        [`${path}/wares`]: {
          get: {
            parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
            responses: {
              200: {
                content: { 'application/json': { schema: { $ref: '#/components/schemas/Ware' } } },
              },
            },
          },
        },
      },
      components: { schemas: { Ware: { type: 'object' } } },
    });
  });
});
