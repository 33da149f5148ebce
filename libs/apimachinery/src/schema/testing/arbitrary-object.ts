/**
 * Random valid objects of any API type for property tests, without values that protobuf cannot
 * represent.
 */
import fc from 'fast-check';
import type { Encoding, FieldDescriptor, TypeName } from '../../descriptors/descriptor.js';
import { schemaType } from '../registry.js';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => ({ value: JSON.parse(JSON.stringify(value)) as unknown }));
const whole = fc.date({
  min: new Date('1900-01-01T00:00:00Z'),
  max: new Date('2200-01-01T00:00:00Z'),
  noInvalidDate: true,
});

const scalars: Record<Exclude<FieldDescriptor['kind'], 'message'>, fc.Arbitrary<unknown>> = {
  string: text,
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.maxSafeInteger(),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  bytes: fc
    .uint8Array({ minLength: 1, maxLength: 8 })
    .map((it) => Buffer.from(it).toString('base64')),
  any: json,
};

function encoded(encoding: Encoding, schema: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  switch (encoding) {
    case 'time':
      return whole.map((date) => date.toISOString());
    case 'microTime':
      return whole.map((date) => date.toISOString().replace('Z', '123Z'));
    case 'duration':
      return fc.maxSafeNat().map((nanos) => `${nanos}ns`);
    case 'quantity':
      return fc
        .tuple(fc.nat(5000), fc.constantFrom('', 'm', 'Ki', 'Gi', 'e3'))
        .map((it) => it.join(''));
    case 'intOrString':
      return fc.oneof(fc.integer(), text);
    case 'stringList':
      return fc.array(text, { maxLength: 3 });
    case 'schemaOrArray':
      return fc.oneof(schema, fc.array(schema, { minLength: 1, maxLength: 2 }));
    case 'schemaOrBool':
      return fc.oneof(schema, fc.boolean());
    case 'schemaOrStringArray':
      return fc.oneof(schema, fc.array(text, { minLength: 1, maxLength: 2 }));
    default:
      return json;
  }
}

function fieldValue(field: FieldDescriptor, depth: number): fc.Arbitrary<unknown> {
  const value = field.kind === 'message' ? arbitraryObject(field.ref!, depth) : scalars[field.kind];
  if (field.cardinality === 'list') return fc.array(value, { minLength: 1, maxLength: 2 });
  if (field.cardinality === 'map') return fc.dictionary(text, value, { minKeys: 1, maxKeys: 2 });
  return value;
}

/** Sets about three fields of each object; none below `depth` levels. */
export function arbitraryObject(name: TypeName, depth: number): fc.Arbitrary<unknown> {
  const { encoding, fields } = schemaType(name);
  if (encoding) {
    const schema = `${name.slice(0, name.lastIndexOf('.'))}.JSONSchemaProps`;
    return encoded(
      encoding,
      encoding.startsWith('schema') ? lazily(schema, depth - 1) : fc.constant({}),
    );
  }
  if (depth <= 0 || fields.length === 0) return fc.constant({});
  const inlined = fields.filter((field) => field.inline).map((field) => lazily(field.ref!, depth));
  const members = fc
    .uniqueArray(fc.nat(fields.length - 1), { maxLength: 3 })
    .map((indices) => indices.map((index) => fields[index]!).filter((field) => !field.inline))
    .chain((chosen) =>
      fc.record(
        Object.fromEntries(chosen.map((field) => [field.name, fieldValue(field, depth - 1)])),
      ),
    );
  return fc.tuple(members, ...inlined).map((parts) => Object.assign({}, ...parts) as unknown);
}

function lazily(name: TypeName, depth: number): fc.Arbitrary<unknown> {
  return fc.constant(null).chain(() => arbitraryObject(name, depth));
}
