import { fieldErrorMessage, path } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { describe, expect, it } from 'vitest';
import { compileSchema } from '../compile-schema.js';

/** The errors for the member `a` of an object. */
function messagesOf(schema: JSONSchemaProps, a: unknown): string[] {
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
  ])('%j accepts %j', (schema, value) => {
    expect(messagesOf(schema, value)).toEqual([]);
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
  ])('%j rejects %j', (schema, value, message) => {
    expect(messagesOf(schema, value)).toEqual([`a: Invalid value: ${message}`]);
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
  ])('%j rejects %j', (schema, value, message) => {
    expect(messagesOf(schema, value)).toEqual([`a: Invalid value: ${message}`]);
  });

  it('counts code points, and tolerates rounding errors of quotients', () => {
    expect(messagesOf({ maxLength: 2, minLength: 2 }, '😀é')).toEqual([]);
    expect(messagesOf({ multipleOf: 0.1 }, 0.7)).toEqual([]);
    expect(messagesOf({ multipleOf: 0.01 }, 4.35)).toEqual([]);
  });

  it('report every violation of a number and the first one of a string', () => {
    expect(messagesOf({ maximum: 1, multipleOf: 2 }, 3)).toHaveLength(2);
    expect(messagesOf({ maxLength: 1, pattern: '^b' }, 'aa')).toHaveLength(1);
  });
});

describe('members and elements', () => {
  it('name members by path, and elements by the name of their list', () => {
    const schema: JSONSchemaProps = {
      type: 'array',
      items: { type: 'object', required: ['b'], properties: { c: { type: 'string' } } },
    };
    expect(messagesOf(schema, [{ b: 1 }, { c: 1 }])).toEqual([
      'a.c: Invalid value: "integer": a.c in body must be of type string: "integer"',
      'a.b: Required value',
    ]);
  });

  it('require neither members with a default nor inherited names', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      required: ['b', 'toString'],
      properties: { b: { type: 'string', default: 'x' } },
    };
    expect(messagesOf(schema, {})).toEqual(['a.toString: Required value']);
  });

  it('check additionalProperties', () => {
    const schema: JSONSchemaProps = { additionalProperties: { type: 'integer' } };
    expect(messagesOf(schema, { 'b.c': 'x' })).toEqual([
      'a.b.c: Invalid value: "string": a.b.c in body must be of type integer: "string"',
    ]);
  });
});

describe('enums', () => {
  it('compare whole values and list the allowed ones', () => {
    const schema: JSONSchemaProps = { enum: ['x', 1, { b: [1], c: 2 }] };
    expect(messagesOf(schema, { c: 2, b: [1] })).toEqual([]);
    expect(messagesOf(schema, 1)).toEqual([]);
    expect(messagesOf(schema, ['x'])).toEqual([
      'a: Unsupported value: []interface {}{"x"}: supported values: "x", "1", "{\\"b\\":[1],\\"c\\":2}"',
    ]);
    expect(messagesOf({ enum: ['x'], nullable: true, type: 'string' }, null)).toEqual([
      'a: Unsupported value: "null": supported values: "x"',
    ]);
  });
});

describe('alternatives', () => {
  const any: JSONSchemaProps = { anyOf: [{ minimum: 10 }, { maximum: 5 }] };

  it('anyOf requires one match', () => {
    expect(messagesOf(any, 12)).toEqual([]);
    expect(messagesOf(any, 7)).toEqual([
      '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
      'a: Invalid value: 7: a in body should be greater than or equal to 10',
    ]);
  });

  it('report the closest alternative', () => {
    const member = (name: string): JSONSchemaProps => ({
      required: ['kind'],
      properties: { kind: { enum: [name] }, size: { maximum: 1 } },
    });
    const schema: JSONSchemaProps = { oneOf: [member('x'), { maxProperties: 0 }, member('y')] };
    expect(messagesOf(schema, { kind: 'y', size: 3 })).toContain(
      'a.size: Invalid value: 3: a.size in body should be less than or equal to 1',
    );
  });

  it('oneOf requires exactly one match', () => {
    const schema: JSONSchemaProps = { oneOf: [{ required: ['b'] }, { required: ['c'] }] };
    expect(messagesOf(schema, { c: 1 })).toEqual([]);
    expect(messagesOf(schema, { b: 1, c: 1 })).toEqual([
      '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ]);
    expect(messagesOf(schema, {})).toEqual([
      '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
      'a.b: Required value',
    ]);
  });

  it('allOf requires all matches, not requires none', () => {
    const all: JSONSchemaProps = { allOf: [{ minimum: 3 }, { maximum: 5 }] };
    expect(messagesOf(all, 4)).toEqual([]);
    expect(messagesOf(all, 6)).toEqual([
      'a: Invalid value: 6: a in body should be less than or equal to 5',
      '<nil>: Invalid value: "": "a" must validate all the schemas (allOf)',
    ]);
    expect(messagesOf({ allOf: [{ minimum: 7 }] }, 6).at(-1)).toBe(
      '<nil>: Invalid value: "": "a" must validate all the schemas (allOf). None validated',
    );
    expect(messagesOf({ not: { enum: ['x'] } }, 'x')).toEqual([
      '<nil>: Invalid value: "": "a" must not validate the schema (not)',
    ]);
  });

  it('report duplicate messages once', () => {
    expect(messagesOf({ minimum: 3, allOf: [{ minimum: 3 }] }, 1)).toHaveLength(2);
  });
});

describe('limits', () => {
  it('match patterns in linear time', () => {
    expect(messagesOf({ pattern: '^(a+)+$' }, `${'a'.repeat(20_000)}b`)).toHaveLength(1);
  });

  it('reject values that take too many steps', () => {
    const schema: JSONSchemaProps = { pattern: '([ab]{1,500}c){2}' };
    const compiled = compileSchema(schema, false);
    expect(compiled.validate('ab'.repeat(200_000), path('spec')).map(fieldErrorMessage)).toEqual([
      'spec: Invalid value: "": takes too many steps to check against its schema',
    ]);
  });

  it('bound the number of issues', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 2]);
    const schema: JSONSchemaProps = { additionalProperties: { maximum: 1 } };
    expect(messagesOf(schema, Object.fromEntries(names))).toHaveLength(1_000);
  });

  it('bound the total length of issues', () => {
    const values = Array.from({ length: 20_000 }, (_, index) => `value-${index}`);
    const names = Object.fromEntries(values.map((name) => [name, 'none']));
    const messages = messagesOf({ additionalProperties: { enum: values } }, names);
    expect(messages[0]).toMatch(/^a\.value-0: Unsupported value: "none": supported values: /);
    expect(messages.length).toBeLessThan(10);
  });
});
