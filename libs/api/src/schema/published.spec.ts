import { checkTyped, type JsonObject, TypedError } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { describe, expect, it } from 'vitest';
import { compileSchema } from './compile-schema.js';

const envelope = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { $ref: '#/definitions/meta' },
};
const text: JSONSchemaProps = { type: 'string' };
const preserving: JSONSchemaProps = { 'x-orch-preserve-unknown-fields': true };
const object = (properties: Record<string, JSONSchemaProps>): JSONSchemaProps => ({
  type: 'object',
  properties,
});

function published(schema: JSONSchemaProps | undefined, version: 2 | 3, preserve = false) {
  return compileSchema(schema, preserve).openApi(version, envelope);
}

/** The published schema of the member `a`. */
function member(a: JSONSchemaProps, version: 2 | 3) {
  const { properties } = published(object({ a }), version);
  return (properties as Record<string, unknown>).a;
}

describe('openApi', () => {
  it('includes the envelope, and extensions under their published keys', () => {
    const spec = {
      ...object({ list: { type: 'array', items: text } }),
      'x-orch-map-type': 'atomic',
    };
    expect(published({ ...object({ spec }), required: ['spec'] }, 2)).toEqual({
      type: 'object',
      required: ['spec'],
      properties: {
        ...envelope,
        spec: {
          type: 'object',
          'x-orch-map-type': 'atomic',
          properties: { list: { type: 'array', items: text } },
        },
      },
    });
  });

  it('omits alternatives and relaxes constraints in version 2', () => {
    expect(member({ ...text, minLength: 1, anyOf: [{ pattern: 'a' }], not: {} }, 2)).toEqual({
      ...text,
      minLength: 1,
    });
    expect(member({ ...object({ b: text }), nullable: true, required: ['b'] }, 2)).toEqual({
      required: ['b'],
    });
    expect(member({ ...object({ b: { ...text, nullable: true } }), required: ['b'] }, 2)).toEqual({
      type: 'object',
      properties: { b: {} },
    });
    expect(member({ ...object({ b: text }), ...preserving }, 2)).toEqual(preserving);
    expect(published({ ...object({ a: text }), ...preserving }, 2)).toEqual({ type: 'object' });
    expect(published(object({ a: text }), 2, true)).toEqual({ type: 'object' });
    expect(published(undefined, 3)).toEqual({ type: 'object' });
  });

  it('is complete in version 3', () => {
    const schema = { ...text, nullable: true, anyOf: [{ pattern: 'a' }], not: { maxLength: 1 } };
    expect(member(schema, 3)).toEqual(schema);
    expect(member({ ...object({ b: text }), ...preserving }, 3)).toEqual({
      ...object({ b: text }),
      ...preserving,
    });
  });

  it('adds the envelope to embedded resources', () => {
    const schema = { ...object({ spec: object({}) }), 'x-orch-embedded-resource': true };
    expect(member(schema, 2)).toEqual({
      type: 'object',
      'x-orch-embedded-resource': true,
      properties: { spec: { type: 'object' }, ...envelope },
      required: ['kind', 'apiVersion'],
    });
  });
});

describe('shape', () => {
  const schema = object({
    spec: object({
      size: { type: 'integer' },
      port: { 'x-orch-int-or-string': true },
      free: { type: 'object', ...preserving },
      labels: { type: 'object', additionalProperties: text },
      keyed: {
        type: 'array',
        'x-orch-list-type': 'map',
        'x-orch-list-map-keys': ['k', 'd'],
        items: object({ k: text, d: { ...text, default: 'x' }, v: text }),
      },
      set: { type: 'array', 'x-orch-list-type': 'set', items: text },
    }),
  });
  const { shape } = compileSchema(schema, false);
  const faults = (spec: JsonObject): string[] => {
    try {
      checkTyped(shape, { apiVersion: 'v1', kind: 'K', metadata: { name: 'a' }, spec });
      return [];
    } catch (error) {
      if (error instanceof TypedError) return [...error.messages];
      throw error;
    }
  };

  it('distinguishes fields, lists and free-form values', () => {
    expect(faults({ port: 'http', free: { any: [1] }, labels: { any: 'x' }, size: 1 })).toEqual([]);
    expect(faults({ nope: 1 })).toEqual(['.spec.nope: field not declared in schema']);
    expect(faults({ labels: { any: 1 } })).toHaveLength(1);
    expect(faults({ size: 'big' })[0]).toMatch(/^\.spec\.size: expected numeric \(int or float\)/);
  });

  it('identifies elements by their keys, absent keys by their default', () => {
    expect(faults({ keyed: [{ k: '1' }, { k: '1', d: 'y' }] })).toEqual([]);
    expect(faults({ keyed: [{ k: '1' }, { k: '1', d: 'x' }] })).toHaveLength(1);
    expect(faults({ keyed: [{ v: '1' }] })).toHaveLength(1);
    expect(faults({ set: ['a', 'a'] })).toHaveLength(1);
  });

  it('accepts any name as a key', () => {
    for (const name of ['constructor', '__proto__', 'a"b', 'a\\b']) {
      const list: JSONSchemaProps = {
        type: 'array',
        'x-orch-list-type': 'map',
        'x-orch-list-map-keys': [name],
        items: { type: 'object', ...preserving },
      };
      const { shape: odd } = compileSchema(object({ list }), false);
      const element = JSON.parse(JSON.stringify({ '?': 'x' }).replace('"?"', JSON.stringify(name)));
      expect(() => checkTyped(odd, { list: [element] })).not.toThrow();
      expect(() => checkTyped(odd, { list: [element, element] })).toThrow(TypedError);
      expect(() => checkTyped(odd, { list: [{}] })).toThrow(TypedError);
    }
  });

  it('accepts preserved unknown fields', () => {
    const free = compileSchema({ ...object({ spec: object({}) }), ...preserving }, false).shape;
    const value = { metadata: { name: 'a' }, extra: 1, spec: { any: 1 } };
    expect(() => checkTyped(free, value)).not.toThrow();
    expect(() => checkTyped(compileSchema(undefined, true).shape, value)).not.toThrow();
  });
});
