import { fieldErrorMessage, type JsonObject } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchema } from './compile-schema.js';

const text: JSONSchemaProps = { type: 'string' };
const open: JSONSchemaProps = { type: 'object', 'x-orch-preserve-unknown-fields': true };
const object = (properties: Record<string, JSONSchemaProps>): JSONSchemaProps => ({
  type: 'object',
  properties,
});

function pruned(schema: JSONSchemaProps, value: JsonObject, preserve = false): JsonObject {
  const copy = structuredClone(value);
  compileSchema(schema, preserve).prune(copy);
  return copy;
}

function defaulted(schema: JSONSchemaProps, value: JsonObject): JsonObject {
  const copy = structuredClone(value);
  compileSchema(schema, false).applyDefaults(copy);
  return copy;
}

function messagesOf(schema: JSONSchemaProps, value: JsonObject, old?: JsonObject): string[] {
  return compileSchema(schema, false).validate(value, undefined, old).map(fieldErrorMessage);
}

describe('prune', () => {
  it('drops unknown fields, but never the envelope of the object', () => {
    const schema = object({
      spec: object({ a: text, list: { type: 'array', items: object({}) } }),
    });
    const envelope = { apiVersion: 'v1', kind: 'K', metadata: { name: 'a', odd: 1 } };
    const value = { ...envelope, spec: { a: 'x', b: 1, list: [{ c: 1 }, 'x'] }, extra: {} };
    expect(pruned(schema, value)).toEqual({ ...envelope, spec: { a: 'x', list: [{}, 'x'] } });
  });

  it('keeps preserved unknown fields, and still prunes below known ones', () => {
    const schema = object({ spec: { ...open, properties: { a: object({ b: text }) } } });
    expect(pruned(schema, { spec: { a: { b: 'x', c: 1 }, d: { e: 1 } } })).toEqual({
      spec: { a: { b: 'x' }, d: { e: 1 } },
    });
    expect(pruned(object({}), { spec: { a: 1 } }, true)).toEqual({ spec: { a: 1 } });
  });

  it('keeps additionalProperties, and the envelope of embedded resources', () => {
    const schema = object({
      map: { type: 'object', additionalProperties: object({ a: text }) },
      pod: { ...object({ spec: object({}) }), 'x-orch-embedded-resource': true },
    });
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 'b' } } };
    const value = { map: { any: { a: 'x', b: 1 } }, pod: { ...pod, spec: { c: 1 }, status: {} } };
    expect(pruned(schema, value)).toEqual({ map: { any: { a: 'x' } }, pod: { ...pod, spec: {} } });
  });

  it('drops nulls that are neither allowed nor defaulted', () => {
    const schema = object({
      a: text,
      b: { ...text, nullable: true },
      c: { ...text, default: 'x' },
      list: { type: 'array', items: object({ a: text }) },
    });
    expect(pruned(schema, { a: null, b: null, c: null, list: [{ a: null }] })).toEqual({
      b: null,
      c: null,
      list: [{}],
    });
  });

  it('keeps keys with inherited names', () => {
    const value = JSON.parse('{"map":{"__proto__":"x","constructor":"y"},"__proto__":{"a":1}}');
    const schema = object({ map: { type: 'object', additionalProperties: text } });
    compileSchema(schema, false).prune(value);
    expect(JSON.stringify(value)).toBe('{"map":{"__proto__":"x","constructor":"y"}}');
  });
});

describe('applyDefaults', () => {
  it('sets absent values, also below defaults, in lists and in maps', () => {
    const inner = object({ x: { ...text, default: 'dx' } });
    const schema = object({
      deep: { ...inner, default: {} },
      list: { type: 'array', items: inner },
      map: { type: 'object', additionalProperties: inner },
      none: inner,
    });
    expect(defaulted(schema, { list: [{}, { x: 'y' }], map: { a: {} } })).toEqual({
      deep: { x: 'dx' },
      list: [{ x: 'dx' }, { x: 'y' }],
      map: { a: { x: 'dx' } },
    });
  });

  it('replaces nulls that are not allowed', () => {
    const schema = object({
      a: { ...text, default: 'x' },
      b: { ...text, default: 'x', nullable: true },
      list: { type: 'array', items: { ...text, default: 'e' } },
    });
    expect(defaulted(schema, { a: null, b: null, list: [null] })).toEqual({
      a: 'x',
      b: null,
      list: ['e'],
    });
  });

  it('shares nothing between objects', () => {
    const compiled = compileSchema(object({ a: { ...open, default: { list: [] } } }), false);
    const [first, second]: [JsonObject, JsonObject] = [{}, {}];
    compiled.applyDefaults(first);
    ((first.a as JsonObject).list as unknown[]).push(1);
    compiled.applyDefaults(second);
    expect(second).toEqual({ a: { list: [] } });
  });
});

describe('embedded resources', () => {
  const schema = object({ pod: { ...open, 'x-orch-embedded-resource': true } });

  it('require apiVersion, kind and valid metadata', () => {
    expect(messagesOf(schema, { pod: { apiVersion: 'a/b/c', kind: '' } })).toEqual([
      'pod.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'pod.kind: Invalid value: "": must not be empty',
    ]);
    const [message] = messagesOf(schema, {
      pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a/b' } },
    });
    expect(message).toBe(`pod.metadata.name: Invalid value: "a/b": may not contain '/'`);
    expect(messagesOf(schema, { pod: { apiVersion: 'v1', kind: 'Pod', metadata: {} } })).toEqual(
      [],
    );
  });

  it('drop unknown metadata fields', () => {
    const compiled = compileSchema(schema, false);
    const value = {
      pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', odd: 1, labels: { b: 'c' } } },
    };
    expect(compiled.coerceMetadata(value, false)).toEqual([]);
    expect(value.pod.metadata).toEqual({ name: 'a', labels: { b: 'c' } });
  });

  it('with invalid metadata are rejected, or lose it when read from the store', () => {
    const compiled = compileSchema(schema, false);
    const value = () => ({ pod: { apiVersion: 1, kind: 'Pod', metadata: { name: 1, uid: 'u' } } });
    const fields = compiled.coerceMetadata(value(), false).map(({ field }) => field);
    expect(fields).toEqual(['pod.apiVersion', 'pod.metadata']);
    const stored = value();
    expect(compiled.coerceMetadata(stored, true)).toEqual([]);
    expect(stored).toEqual({ pod: { kind: 'Pod', metadata: { uid: 'u' } } });
  });
});

describe('keyed lists', () => {
  const list = (type: string, ...keys: string[]): JSONSchemaProps => ({
    type: 'array',
    items: { 'x-orch-preserve-unknown-fields': true },
    'x-orch-list-type': type,
    ...(keys.length > 0 && { 'x-orch-list-map-keys': keys }),
  });

  it('report each duplicate value once', () => {
    expect(
      messagesOf(object({ a: list('set') }), { a: [1, 1, 1, { b: 2, c: 3 }, { c: 3, b: 2 }] }),
    ).toEqual([
      'a[1]: Duplicate value: 1',
      'a[4]: Duplicate value: map[string]interface {}{"b":2, "c":3}',
    ]);
  });

  it('compare all keys, an absent key as a value of its own', () => {
    const schema = object({ a: list('map', 'k', 'n') });
    expect(
      messagesOf(schema, { a: [{ k: 1, n: 1 }, { k: 1, n: 2 }, { k: 1 }, { k: 1, v: 1 }] }),
    ).toEqual(['a[3]: Duplicate value: map[string]interface {}{"k":1}']);
  });

  it('tolerate duplicates that are already stored', () => {
    const schema = object({ a: list('set') });
    expect(messagesOf(schema, { a: [1, 1] }, { a: [2, 2] })).toEqual([]);
    expect(messagesOf(schema, { a: [1, 1] }, { a: [2] })).toHaveLength(1);
  });

  it('are checked at every depth', () => {
    const map: JSONSchemaProps = { type: 'object', additionalProperties: list('set') };
    const schema = object({ m: { type: 'array', items: map } });
    expect(messagesOf(schema, { m: [{ x: ['a', 'a'] }] })).toEqual([
      'm[0][x][1]: Duplicate value: "a"',
    ]);
  });
});

describe('any object', () => {
  const members: fc.Arbitrary<JSONSchemaProps> = fc.letrec<{ schema: JSONSchemaProps }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JSONSchemaProps>(text, { type: 'integer', default: 1 }, open, {
        ...text,
        nullable: true,
      }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')).map(object),
      tie('schema').map((items): JSONSchemaProps => ({ type: 'array', items })),
      tie('schema').map(
        (inner): JSONSchemaProps => ({ type: 'object', additionalProperties: inner }),
      ),
    ),
  })).schema;
  const values = fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value))),
  );

  it('does not change when pruned and defaulted again', () => {
    fc.assert(
      fc.property(members, values, (schema, value) => {
        const compiled = compileSchema(object({ a: schema, b: schema }), false);
        const once = structuredClone(value) as JsonObject;
        compiled.prune(once);
        compiled.applyDefaults(once);
        const twice = structuredClone(once);
        compiled.prune(twice);
        compiled.applyDefaults(twice);
        expect(twice).toEqual(once);
      }),
    );
  });
});
