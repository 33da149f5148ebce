/** Schemas of custom resources, and their objects. */
import assert from 'node:assert/strict';
import {
  checkTyped,
  codecFor,
  isDeeperThan,
  type Json,
  type JsonObject,
  JsonPathError,
  objectDepthMax,
  path,
  readJsonPath,
  SchemaError,
  TypedError,
} from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import fc from 'fast-check';
import {
  cellText,
  compileSchema,
  schemaErrors,
  schemaRules,
} from '../../../libs/api/src/schema/index.js';
import { changedJson, hostileJson, jsonText } from '../inputs/json.js';
import { hostileText, sentence } from '../inputs/text.js';
import { cheap, decodedOrRefused, type Target, target } from '../target.js';
import { checkInherited } from './refusals.js';

const names = ['a', 'b', 'kind', 'metadata', 'name', '__proto__', 'constructor'] as const;
const patterns = ['^a+$', '(a|a)*b', '(x+x+)+y', '[', '\\p{L}{1,50}', '(?=a)', '.{0,999}z'];
const values = fc.oneof(fc.constantFrom<unknown>('a', 1, null, [], {}), hostileJson);

const valueRules: fc.Arbitrary<JSONSchemaProps> = fc.record<JSONSchemaProps>(
  {
    pattern: fc.constantFrom(...patterns),
    format: fc.constantFrom('date-time', 'uri', 'email', 'hostname', 'duration', 'int32', 'byte'),
    maximum: fc.double(),
    multipleOf: fc.constantFrom(0, -1, 0.1, 1e-300, 3),
    maxLength: fc.nat(3),
    minItems: fc.nat(3),
    maxProperties: fc.nat(3),
    uniqueItems: fc.boolean(),
    enum: fc.array(values, { maxLength: 3 }),
    required: fc.array(fc.constantFrom(...names), { maxLength: 2 }),
    nullable: fc.boolean(),
    default: values,
  },
  { requiredKeys: [] },
);
const extensions: fc.Arbitrary<JSONSchemaProps> = fc.record<JSONSchemaProps>(
  {
    'x-orch-preserve-unknown-fields': fc.boolean(),
    'x-orch-embedded-resource': fc.boolean(),
    'x-orch-int-or-string': fc.boolean(),
    'x-orch-list-type': fc.constantFrom('atomic', 'set', 'map'),
    'x-orch-list-map-keys': fc.array(fc.constantFrom(...names), { maxLength: 2 }),
    'x-orch-map-type': fc.constantFrom('atomic', 'granular'),
  },
  { requiredKeys: [] },
);

const schemas: fc.Arbitrary<JSONSchemaProps> = fc.letrec<{ schema: JSONSchemaProps }>((tie) => {
  const schema = tie('schema');
  const few = fc.array(schema, { maxLength: 2 });
  const members = fc.dictionary(fc.constantFrom(...names), schema, { maxKeys: 3 });
  const structure = fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('string', 'integer', 'number', 'boolean').map((type) => ({ type })),
    members.map((properties) => ({ type: 'object', properties })),
    schema.map((items) => ({ type: 'array', items })),
    schema.map((additionalProperties) => ({ type: 'object', additionalProperties })),
    fc.tuple(few, few, schema).map(([anyOf, oneOf, not]) => ({ anyOf, oneOf, not })),
  );
  const none = fc.constant<JSONSchemaProps>({});
  const more = fc.oneof({ weight: 3, arbitrary: none }, valueRules, extensions);
  return { schema: fc.tuple(structure, more).map(([form, rules]) => ({ ...form, ...rules })) };
}).schema;

const objects = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    values,
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
})).value;

/** The parsed text, or undefined if it is no JSON or nested too deeply for a body. */
function parsed(value: unknown): Json | undefined {
  const read = decodedOrRefused((): Json => JSON.parse(jsonText(value)), SyntaxError);
  if (isDeeperThan(read, objectDepthMax - 1)) return undefined;
  // Numbers without a JSON form are null from here on.
  return JSON.parse(JSON.stringify(read ?? null));
}

function decoded(schema: unknown): JSONSchemaProps | undefined {
  const json = parsed(schema);
  const codec = codecFor<JSONSchemaProps>('apiextensions/v1.JSONSchemaProps');
  return json === undefined ? undefined : decodedOrRefused(() => codec.fromJson(json), SchemaError);
}

function objectOf(value: unknown): JsonObject | undefined {
  const a = parsed(value);
  return a === undefined ? undefined : { apiVersion: 'a.b/v1', kind: 'K', metadata: {}, a };
}

function definitionOf(schema: JSONSchemaProps, preserveUnknownFields: boolean) {
  const validation = { openAPIV3Schema: schema };
  return {
    group: 'a.b',
    names: { plural: 'ks', kind: 'K' },
    scope: 'Cluster',
    validation,
    preserveUnknownFields,
  };
}

/** Runs all functions of the schema on an object, and checks that each is idempotent. */
function processed(schema: JSONSchemaProps, object: JsonObject, isAccepted: boolean): void {
  const compiled = compileSchema(schema, false);
  const process = (value: JsonObject) => {
    compiled.prune(value);
    compiled.coerceMetadata(value, true);
    compiled.applyDefaults(value);
    return JSON.stringify(value);
  };
  const once = process(object);
  compiled.validate(object, undefined, JSON.parse(once));
  decodedOrRefused(() => checkTyped(compiled.shape, object), TypedError);
  if (isAccepted) assert.equal(process(JSON.parse(once)), once, 'done again');
  for (const version of [2, 3] as const) {
    const envelope = { apiVersion: {}, kind: {}, metadata: {} };
    JSON.stringify(compiled.openApi(version, envelope));
  }
}

const customSchemas = target(
  'custom-schemas',
  fc.tuple(changedJson(schemas, ['type', 'items', 'not', 'default', '$ref']), objects),
  ([anySchema, anyObject]) => {
    const inner = decoded(anySchema);
    const object = objectOf(anyObject);
    if (!inner || !object) return;
    const schema: JSONSchemaProps = { type: 'object', properties: { a: inner } };
    const errorsOf = (version: 'v1' | 'v1beta1', preserves: boolean) => {
      const definition = definitionOf(schema, preserves);
      const rules = schemaRules(version, definition, definition);
      schemaErrors(schema, path('spec'), { ...rules, statusSubresource: true });
      const fresh = { ...schemaRules(version, definition), statusSubresource: false };
      return schemaErrors(schema, path('spec'), fresh);
    };
    errorsOf('v1beta1', true);
    processed(schema, object, errorsOf('v1', false).length === 0);
    checkInherited();
  },
);

const pathPieces = [
  '.',
  '..',
  '*',
  '[',
  ']',
  '[?(',
  ')]',
  '@',
  '==',
  '<',
  '"b"',
  "'",
  '\\',
  '-1',
  ':',
];

const jsonPaths = target(
  'json-paths',
  fc.tuple(fc.oneof(sentence([...pathPieces, ...names, ',', '0', ' ']), hostileText), objects),
  ([text, value]) => {
    const found = decodedOrRefused(() => readJsonPath(text), JsonPathError);
    const object = objectOf(value);
    if (found && object) found.find(object).map(cellText);
  },
);

export const schemaTargets: readonly Target[] = [customSchemas, ...cheap([jsonPaths])];
