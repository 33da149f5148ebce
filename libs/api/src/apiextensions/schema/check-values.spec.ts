import { fieldErrorMessage, path } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { describe, expect, it } from 'vitest';
import { compileSchema } from './compile-schema.js';

/** What is said of the member `a` of an object. */
function said(schema: JSONSchemaProps, a: unknown): string[] {
  const compiled = compileSchema({ type: 'object', properties: { a: schema } }, false);
  return compiled.validate({ a }).map(fieldErrorMessage);
}

const intOrString: JSONSchemaProps = { 'x-orch-int-or-string': true };

describe('types', () => {
  it.each<[JSONSchemaProps, unknown]>([
    [{ type: 'integer' }, 3],
    [{ type: 'integer' }, 2 ** 53],
    [{ type: 'number' }, 3],
    [{ type: 'number' }, 0.5],
    [{ type: 'string', nullable: true }, null],
    [{}, null],
    [{}, [1, 'a', {}]],
    [intOrString, 1],
    [intOrString, '50%'],
    [{ type: 'integer', format: 'int32' }, 2 ** 40],
    [{ type: 'string', format: 'of-nobody' }, 'x'],
  ])('%j takes %j', (schema, value) => {
    expect(said(schema, value)).toEqual([]);
  });

  it.each<[JSONSchemaProps, unknown, string]>([
    [{ type: 'integer' }, 'x', '"string": a in body must be of type integer: "string"'],
    [{ type: 'integer' }, 1.5, '"number": a in body must be of type integer: "number"'],
    [{ type: 'integer' }, 1e20, '"number": a in body must be of type integer: "number"'],
    [{ type: 'string' }, null, '"null": a in body must be of type string: "null"'],
    [{ type: 'string' }, 1, '"integer": a in body must be of type string: "integer"'],
    [{ type: 'object' }, [], '"array": a in body must be of type object: "array"'],
    [{ type: 'array' }, {}, '"object": a in body must be of type array: "object"'],
    [intOrString, true, '"boolean": a in body must be of type integer,string: "boolean"'],
    [{ type: 'string', format: 'date' }, 5, '"": a in body must be of type date: ""'],
  ])('%j refuses %j', (schema, value, message) => {
    expect(said(schema, value)).toEqual([`a: Invalid value: ${message}`]);
  });
});

describe('bounds', () => {
  it.each<[JSONSchemaProps, unknown, string]>([
    [{ maximum: 2 }, 3, '3: a in body should be less than or equal to 2'],
    [{ maximum: 2, exclusiveMaximum: true }, 2, '2: a in body should be less than 2'],
    [{ minimum: 0.5 }, 0, '0: a in body should be greater than or equal to 0.5'],
    [{ minimum: 1e-7 }, 0, '0: a in body should be greater than or equal to 1e-07'],
    [{ minimum: 1, exclusiveMinimum: true }, 1, '1: a in body should be greater than 1'],
    [{ multipleOf: 0.1 }, 0.25, '0.25: a in body should be a multiple of 0.1'],
    [{ multipleOf: -1 }, 1, '-1: factor MultipleOf declared for a must be positive: -1'],
    [{ maxLength: 1 }, '😀😀', '"😀😀": a in body should be at most 1 chars long'],
    [{ minLength: 1 }, '', '"": a in body should be at least 1 chars long'],
    [{ pattern: 'b+$' }, 'abc', '"abc": a in body should match \'b+$\''],
    [{ format: 'ipv4' }, 'a"b', '"a\\"b": a in body must be of type ipv4: "a\\"b"'],
    [{ minItems: 1 }, [], '0: a in body should have at least 1 items'],
    [{ maxItems: 1 }, [1, 2], '2: a in body should have at most 1 items'],
    [{ uniqueItems: true }, [{ b: 1 }, { b: 1 }], '"": a in body shouldn\'t contain duplicates'],
    [{ minProperties: 1 }, {}, '1: a in body should have at least 1 properties'],
    [{ maxProperties: 1 }, { b: 1, c: 2 }, '1: a in body should have at most 1 properties'],
    [{ additionalProperties: false }, { b: 1 }, '"b": a.b in body is a forbidden property'],
  ])('%j refuses %j', (schema, value, message) => {
    expect(said(schema, value)).toEqual([`a: Invalid value: ${message}`]);
  });

  it('counts characters, not halves, and takes quotients that are whole but for rounding', () => {
    expect(said({ maxLength: 2, minLength: 2 }, '😀é')).toEqual([]);
    expect(said({ multipleOf: 0.1 }, 0.7)).toEqual([]);
    expect(said({ multipleOf: 0.01 }, 4.35)).toEqual([]);
  });

  it('names every broken rule of a number and the first one of a text', () => {
    expect(said({ maximum: 1, multipleOf: 2 }, 3)).toHaveLength(2);
    expect(said({ maxLength: 1, pattern: '^b' }, 'aa')).toHaveLength(1);
  });
});

describe('members and elements', () => {
  it('names members by their way, and elements by the name of their list', () => {
    const schema: JSONSchemaProps = {
      type: 'array',
      items: { type: 'object', required: ['b'], properties: { c: { type: 'string' } } },
    };
    expect(said(schema, [{ b: 1 }, { c: 1 }])).toEqual([
      'a.c: Invalid value: "integer": a.c in body must be of type string: "integer"',
      'a.b: Required value',
    ]);
  });

  it('does not ask for what has a default, nor for what objects inherit', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      required: ['b', 'toString'],
      properties: { b: { type: 'string', default: 'x' } },
    };
    expect(said(schema, {})).toEqual(['a.toString: Required value']);
  });

  it('checks members under any name', () => {
    const schema: JSONSchemaProps = { additionalProperties: { type: 'integer' } };
    expect(said(schema, { 'b.c': 'x' })).toEqual([
      'a.b.c: Invalid value: "string": a.b.c in body must be of type integer: "string"',
    ]);
  });
});

describe('enums', () => {
  it('compares whole values and lists those that there may be', () => {
    const schema: JSONSchemaProps = { enum: ['x', 1, { b: [1], c: 2 }] };
    expect(said(schema, { c: 2, b: [1] })).toEqual([]);
    expect(said(schema, 1)).toEqual([]);
    expect(said(schema, ['x'])).toEqual([
      'a: Unsupported value: []interface {}{"x"}: supported values: "x", "1", "{\\"b\\":[1],\\"c\\":2}"',
    ]);
    expect(said({ enum: ['x'], nullable: true, type: 'string' }, null)).toEqual([
      'a: Unsupported value: "null": supported values: "x"',
    ]);
  });
});

describe('alternatives', () => {
  const any: JSONSchemaProps = { anyOf: [{ minimum: 10 }, { maximum: 5 }] };

  it('asks for any', () => {
    expect(said(any, 12)).toEqual([]);
    expect(said(any, 7)).toEqual([
      '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
      'a: Invalid value: 7: a in body should be greater than or equal to 10',
    ]);
  });

  it('tells of the alternative of which most is right', () => {
    const member = (name: string): JSONSchemaProps => ({
      required: ['kind'],
      properties: { kind: { enum: [name] }, size: { maximum: 1 } },
    });
    const schema: JSONSchemaProps = { oneOf: [member('x'), { maxProperties: 0 }, member('y')] };
    expect(said(schema, { kind: 'y', size: 3 })).toContain(
      'a.size: Invalid value: 3: a.size in body should be less than or equal to 1',
    );
  });

  it('asks for exactly one', () => {
    const schema: JSONSchemaProps = { oneOf: [{ required: ['b'] }, { required: ['c'] }] };
    expect(said(schema, { c: 1 })).toEqual([]);
    expect(said(schema, { b: 1, c: 1 })).toEqual([
      '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ]);
    expect(said(schema, {})).toEqual([
      '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
      'a.b: Required value',
    ]);
  });

  it('asks for all, and for none', () => {
    const all: JSONSchemaProps = { allOf: [{ minimum: 3 }, { maximum: 5 }] };
    expect(said(all, 4)).toEqual([]);
    expect(said(all, 6)).toEqual([
      'a: Invalid value: 6: a in body should be less than or equal to 5',
      '<nil>: Invalid value: "": "a" must validate all the schemas (allOf)',
    ]);
    expect(said({ allOf: [{ minimum: 7 }] }, 6).at(-1)).toBe(
      '<nil>: Invalid value: "": "a" must validate all the schemas (allOf). None validated',
    );
    expect(said({ not: { enum: ['x'] } }, 'x')).toEqual([
      '<nil>: Invalid value: "": "a" must not validate the schema (not)',
    ]);
  });

  it('says the same thing once', () => {
    expect(said({ minimum: 3, allOf: [{ minimum: 3 }] }, 1)).toHaveLength(2);
  });
});

describe('limits', () => {
  it('matches patterns that other engines do not end with', () => {
    expect(said({ pattern: '^(a+)+$' }, `${'a'.repeat(20_000)}b`)).toHaveLength(1);
  });

  it('refuses what takes too many steps', () => {
    const schema: JSONSchemaProps = { pattern: '([ab]{1,500}c){2}' };
    const compiled = compileSchema(schema, false);
    expect(compiled.validate('ab'.repeat(200_000), path('spec')).map(fieldErrorMessage)).toEqual([
      'spec: Invalid value: "": takes too many steps to check against its schema',
    ]);
  });

  it('names no more mistakes than anybody reads', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 2]);
    const schema: JSONSchemaProps = { additionalProperties: { maximum: 1 } };
    expect(said(schema, Object.fromEntries(names))).toHaveLength(1_000);
  });

  it('does not repeat a long enum for each of many values', () => {
    const values = Array.from({ length: 20_000 }, (_, index) => `value-${index}`);
    const names = Object.fromEntries(values.map((name) => [name, 'none']));
    const messages = said({ additionalProperties: { enum: values } }, names);
    expect(messages[0]).toMatch(/^a\.value-0: Unsupported value: "none": supported values: /);
    expect(messages.length).toBeLessThan(10);
  });
});
