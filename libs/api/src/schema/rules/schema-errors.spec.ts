import { fieldErrorMessage, path } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import type { CustomResourceDefinitionSpec } from '@orch/types/apiextensions/v1beta1';
import { describe, expect, it } from 'vitest';
import { columnErrors, scaleErrors } from '../paths/definition-paths.js';
import { schemaRules } from './rule-selection.js';
import { schemaErrors } from './schema-errors.js';

const text: JSONSchemaProps = { type: 'string' };
const object = (properties: Record<string, JSONSchemaProps>): JSONSchemaProps => ({
  type: 'object',
  properties,
});
const list = (items: JSONSchemaProps, more: JSONSchemaProps): JSONSchemaProps => ({
  type: 'array',
  items,
  ...more,
});

function specOf(schema: JSONSchemaProps, preserveUnknownFields = false) {
  const names = { plural: 'gears', kind: 'Gear' };
  const validation = { openAPIV3Schema: schema };
  const scope = 'Namespaced';
  const spec: CustomResourceDefinitionSpec = { group: 'a.b', names, scope, validation };
  return { ...spec, preserveUnknownFields };
}

interface CheckOptions {
  readonly version?: 'v1' | 'v1beta1';
  readonly preserve?: boolean;
  readonly old?: JSONSchemaProps;
  readonly statusSubresource?: boolean;
}

function messagesOf(schema: JSONSchemaProps, options: CheckOptions = {}): string[] {
  const { version = 'v1', preserve = false, old, statusSubresource = false } = options;
  const stored = old && specOf(old, preserve);
  const rules = schemaRules(version, specOf(schema, preserve), stored);
  const errors = schemaErrors(schema, path('spec', 'validation'), { ...rules, statusSubresource });
  return errors.map((error) =>
    fieldErrorMessage(error).replaceAll('spec.validation.openAPIV3Schema', '~'),
  );
}

/** The errors for the schema of the member `a`. */
const messagesOfMember = (a: JSONSchemaProps): string[] =>
  messagesOf(object({ a })).map((message) => message.replace('~.properties[a]', '~'));

describe('members of schemas', () => {
  it.each<[JSONSchemaProps, string[]]>([
    [
      { type: 'text' },
      [
        '~.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    [{ ...text, id: 'x' }, ['~.id: Forbidden: id is not supported']],
    [{ ...text, $ref: '#/x' }, ['~.$ref: Forbidden: $ref is not supported']],
    [
      { ...text, definitions: { x: { uniqueItems: true } } },
      [
        '~.definitions: Forbidden: definitions is not supported',
        '~.definitions[x].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ],
    ],
    [
      { type: 'array', items: [text] },
      ['~.items: Forbidden: items must be a schema object and not an array'],
    ],
    [
      { ...object({ b: text }), additionalProperties: false },
      [
        '~.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
      ],
    ],
    [
      { type: 'object', 'x-orch-preserve-unknown-fields': false },
      ['~.x-orch-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
    ],
    [
      { ...text, 'x-orch-map-type': 'whole' },
      [
        '~.type: Invalid value: "string": must be object if x-orch-map-type is specified',
        '~.x-orch-map-type: Unsupported value: "whole": supported values: "atomic", "granular"',
      ],
    ],
  ])('%j', (schema, messages) => {
    expect(messagesOfMember(schema)).toEqual(messages);
  });

  it('allows additionalProperties: true beside properties, and rejects nullable at the root', () => {
    expect(messagesOfMember({ ...object({ b: text }), additionalProperties: true })).toEqual([]);
    expect(messagesOf({ type: 'object', nullable: true })).toEqual([
      '~.nullable: Forbidden: nullable cannot be true at the root',
    ]);
  });
});

it('limits the number of errors of a large schema', () => {
  const many = Array.from({ length: 130_000 }, (_, index): [string, JSONSchemaProps] => [
    `x${index}`,
    { uniqueItems: true },
  ]);
  expect(messagesOf(object(Object.fromEntries(many)))).toHaveLength(1_000);
});

describe('lists', () => {
  const element = (more: JSONSchemaProps = {}) => ({
    ...object({ k: text, v: object({}) }),
    ...more,
  });
  const keyed = (keys: string[], items: JSONSchemaProps): JSONSchemaProps =>
    list(items, { 'x-orch-list-type': 'map', 'x-orch-list-map-keys': keys });

  it.each<[JSONSchemaProps, string[]]>([
    [keyed(['k'], element({ required: ['k'] })), []],
    [keyed(['k'], element({ properties: { k: { ...text, default: 'x' } } })), []],
    [
      keyed(['k'], element()),
      [
        '~.items.properties[k].default: Required value: this property is in x-orch-list-map-keys, so it must have a default or be a required property',
      ],
    ],
    [
      keyed(['k', 'k'], element({ required: ['k'] })),
      [
        '~.x-orch-list-map-keys: Invalid value: []string{"k", "k"}: must not contain duplicate entries',
      ],
    ],
    [
      keyed(['n'], element()),
      [
        '~.x-orch-list-map-keys: Invalid value: []string{"n"}: entries must all be names of item properties',
      ],
    ],
    [
      keyed(['v'], element({ required: ['v'] })),
      [
        `~.items.properties[v].type: Invalid value: "object": must be a scalar type if parent array's x-orch-list-type is map`,
      ],
    ],
    [
      keyed(['k'], text),
      [
        `~.items.type: Invalid value: "string": must be object if parent array's x-orch-list-type is map`,
      ],
    ],
    [
      list(text, { 'x-orch-list-map-keys': ['k'] }),
      ['~.x-orch-list-type: Required value: must be map if x-orch-list-map-keys is non-empty'],
    ],
    [
      list(text, { 'x-orch-list-type': 'bag' }),
      ['~.x-orch-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"'],
    ],
    [
      { ...text, 'x-orch-list-type': 'set' },
      ['~.type: Invalid value: "string": must be array if x-orch-list-type is specified'],
    ],
    [
      list({ ...text, nullable: true }, { 'x-orch-list-type': 'set' }),
      ['~.items.nullable: Forbidden: cannot be nullable when x-orch-list-type is set'],
    ],
    [
      list(list(text, { 'x-orch-list-type': 'set' }), { 'x-orch-list-type': 'set' }),
      [
        '~.items.x-orch-list-type: Invalid value: "set": must be atomic as item of a list with x-orch-list-type=set',
      ],
    ],
  ])('%j', (schema, messages) => {
    expect(messagesOfMember(schema)).toEqual(messages);
  });
});

describe('structural schemas', () => {
  it.each<[JSONSchemaProps, string[]]>([
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-orch-int-or-string': true }, []],
    [
      {
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'a' }],
        'x-orch-int-or-string': true,
      },
      [],
    ],
    [
      { anyOf: [{ type: 'string' }, { type: 'integer' }], 'x-orch-int-or-string': true },
      [
        '~.anyOf[0].type: Forbidden: must be empty to be structural',
        '~.anyOf[1].type: Forbidden: must be empty to be structural',
      ],
    ],
    [
      { 'x-orch-int-or-string': true, 'x-orch-preserve-unknown-fields': true },
      [
        '~.x-orch-preserve-unknown-fields: Invalid value: true: must be false if x-orch-int-or-string is true',
      ],
    ],
    [
      { ...text, not: { description: 'x', nullable: true, default: 'y' } },
      [
        '~.not.default: Forbidden: must be undefined to be structural',
        '~.not.description: Forbidden: must be empty to be structural',
        '~.not.nullable: Forbidden: must be false to be structural',
      ],
    ],
    [
      { ...object({}), oneOf: [{ properties: { b: { pattern: '[' } } }] },
      [
        '~.oneOf[0].properties[b].pattern: Invalid value: "[": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ]: `[`',
      ],
    ],
    [
      { ...object({ metadata: object({}) }), allOf: [{ properties: { metadata: {} } }] },
      ['~.allOf[0].properties[metadata]: Forbidden: must not be specified in a nested context'],
    ],
    [
      { type: 'object', 'x-orch-embedded-resource': true },
      [
        '~.properties: Required value: must not be empty if x-orch-embedded-resource is true without x-orch-preserve-unknown-fields',
      ],
    ],
    [
      { ...object({ kind: { type: 'object' } }), 'x-orch-embedded-resource': true },
      ['~.properties[kind].type: Invalid value: "object": must be string'],
    ],
    [
      { items: text, type: 'array', additionalProperties: {} },
      [
        '~.additionalProperties.type: Required value: must not be empty for specified object fields',
      ],
    ],
    [
      { type: 'array', items: {} },
      ['~.items.type: Required value: must not be empty for specified array items'],
    ],
  ])('%j', (schema, messages) => {
    const messagesAtRoot = messagesOfMember(schema).map((message) =>
      message.replaceAll('~.properties[a]', '~'),
    );
    expect(messagesAtRoot).toEqual(messages);
  });

  it('require fields of conditions to be specified outside', () => {
    const schema = {
      ...object({ a: object({}) }),
      not: { properties: { a: { properties: { b: {} } } } },
    };
    expect(messagesOf(schema)).toEqual([
      '~.properties[a].properties[b]: Required value: because it is defined in ~.not.properties[a].properties[b]',
    ]);
  });

  it('allow only name rules for the metadata', () => {
    const forbidden =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    expect(messagesOf(object({ metadata: object({ name: { pattern: '^a', ...text } }) }))).toEqual(
      [],
    );
    expect(messagesOf(object({ metadata: { type: 'object', description: 'x' } }))).toEqual([
      `~.properties[metadata]: Forbidden: ${forbidden}`,
    ]);
    expect(messagesOf({ type: 'object', additionalProperties: true })).toEqual([
      '~.additionalProperties: Forbidden: must not be used at the root',
    ]);
  });
});

describe('defaults', () => {
  it('must fit their schema without unknown fields', () => {
    expect(messagesOfMember({ ...object({ b: text }), default: { b: 'x' } })).toEqual([]);
    expect(messagesOfMember({ ...object({ b: text }), default: { b: 1, c: 2 } })).toEqual([
      '~.default: Invalid value: map[string]interface {}{"b":1, "c":2}: must not have unknown fields',
      '~.default.b: Invalid value: "integer": b in body must be of type string: "integer"',
    ]);
    expect(messagesOfMember(list({ ...text, enum: ['x'], default: 'y' }, {}))).toEqual([
      '~.items.default: Unsupported value: "y": supported values: "x"',
    ]);
  });

  it('are forbidden for the envelope of the object', () => {
    expect(messagesOf(object({ kind: { ...text, default: 'K' } }))).toEqual([
      '~.properties[kind].default: Forbidden: must not be set in top-level kind',
    ]);
  });

  it('must result in valid metadata of embedded resources', () => {
    const resource = (name: string): JSONSchemaProps => ({
      ...object({ metadata: object({ name: { ...text, default: name } }) }),
      'x-orch-embedded-resource': true,
    });
    expect(messagesOfMember(resource('a'))).toEqual([]);
    expect(messagesOfMember(resource('a/b'))).toEqual([
      `~.properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain '/'`,
    ]);
  });

  it('are forbidden in the beta version, unless some are stored', () => {
    const schema = object({ a: { ...text, default: 'x' } });
    const forbidden =
      'must not be set (cannot set default values in apiextensions.orch.io/v1beta1 CRDs, must use apiextensions.orch.io/v1)';
    expect(messagesOf(schema, { version: 'v1beta1' })).toEqual([
      `~.properties[a].default: Forbidden: ${forbidden}`,
    ]);
    expect(messagesOf(schema, { version: 'v1beta1', old: schema })).toEqual([]);
  });
});

describe('a stored schema', () => {
  it('may be non-structural in the beta version if unknown fields are preserved', () => {
    const schema = object({ a: {} });
    expect(messagesOf(schema, { version: 'v1beta1', preserve: true })).toEqual([]);
    expect(messagesOf(schema, { version: 'v1beta1' })).toHaveLength(1);
    expect(messagesOf(schema, { preserve: true })).toHaveLength(1);
    const extended = object({ a: {}, b: { 'x-orch-int-or-string': true } });
    expect(messagesOf(extended, { version: 'v1beta1', preserve: true })).toHaveLength(1);
  });

  it('keeps its violations on update', () => {
    const loose: JSONSchemaProps[] = [
      object({ a: { type: 'text' } }),
      object({ a: { ...object({}), default: { b: 1 } } }),
      object({ a: list({ type: 'object' }, { 'x-orch-list-type': 'set' }) }),
      object({
        a: list(object({ k: text }), { 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['k'] }),
      }),
    ];
    for (const schema of loose) {
      expect(messagesOf(schema)).toHaveLength(1);
      expect(messagesOf(schema, { old: schema })).toEqual([]);
    }
  });
});

describe('the root with a status subresource', () => {
  it('rejects members that have no meaning for the status alone', () => {
    const where = 'at the root of the schema if the status subresource is enabled';
    const [message] = messagesOf(
      { ...object({}), not: { minProperties: 9 } },
      { statusSubresource: true },
    );
    expect(message).toMatch(/^~: Invalid value: .*: only \[Description Type Format .*\] fields/);
    expect(messagesOf({ type: 'array', items: text }, { statusSubresource: true })).toContain(
      `~.type: Invalid value: "array": only "object" is allowed as the type ${where}`,
    );
    expect(messagesOf(object({ status: object({}) }), { statusSubresource: true })).toEqual([]);
  });
});

describe('paths of a definition', () => {
  it('of the scale must be in spec and status', () => {
    const scale = { specReplicasPath: '.spec.a', statusReplicasPath: '', labelSelectorPath: '.x' };
    expect(scaleErrors(scale, path('scale')).map(fieldErrorMessage)).toEqual([
      'scale.statusReplicasPath: Required value',
      'scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
    ]);
  });

  it('of columns must begin with a dot', () => {
    const column = { name: 'A', type: '', format: 'x', JSONPath: '' };
    expect(columnErrors(column, path('c')).map(fieldErrorMessage)).toEqual([
      'c.type: Required value: must be one of boolean,date,integer,number,string',
      'c.format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
      'c.JSONPath: Required value',
    ]);
  });
});
