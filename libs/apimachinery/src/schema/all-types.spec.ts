import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codecFor } from './codec.js';
import { schemaFile, schemaFileNames, schemaType } from './registry.js';
import { SchemaError } from './schema-error.js';
import { arbitraryObject } from './testing/arbitrary-object.js';

const typeNames = schemaFileNames().flatMap((file) =>
  Object.keys(schemaFile(file).types).map((type) => `${file}.${type}`),
);
const wireTypes = typeNames.filter((name) => {
  const { jsonOnly, encoding } = schemaType(name);
  return !jsonOnly && !encoding;
});

/** Runs the check; any error but a SchemaError fails. */
function survives(check: () => unknown): void {
  try {
    check();
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaError);
  }
}

describe('every type', () => {
  it('exists', () => {
    expect(typeNames).toHaveLength(825);
  });

  it('decodes idempotently from JSON', () => {
    for (const name of typeNames) {
      const codec = codecFor<unknown>(name);
      fc.assert(
        fc.property(arbitraryObject(name, 4), (object) => {
          const normal = codec.fromJson(object);
          const text = JSON.stringify(normal);
          expect(codec.toJson(JSON.parse(text))).toBe(text);
        }),
        { numRuns: 6 },
      );
    }
  });

  it('round-trips through protobuf', () => {
    for (const name of wireTypes) {
      const codec = codecFor<object>(name);
      fc.assert(
        fc.property(arbitraryObject(name, 4), (object) => {
          const normal = codec.fromJson(object);
          const bytes = codec.toProtobuf(normal);
          expect(codec.toProtobuf(object as object).equals(bytes)).toBe(true);
          const back = codec.fromProtobuf(bytes);
          const { kind, apiVersion, ...rest } = back as Record<string, unknown>;
          expect(codec.typeMeta ? rest : back).toEqual(normal);
          expect(kind === undefined || apiVersion !== undefined || !codec.typeMeta).toBe(true);
          expect(codec.toProtobuf(back).equals(bytes)).toBe(true);
        }),
        { numRuns: 6 },
      );
    }
  });

  it('rejects garbage with a SchemaError', () => {
    const garbage = fc.oneof(fc.jsonValue(), fc.anything());
    for (const name of typeNames) {
      const codec = codecFor<unknown>(name);
      const field = fc.constantFrom('x', ...schemaType(name).fields.map((it) => it.name));
      fc.assert(
        fc.property(fc.dictionary(field, garbage), fc.uint8Array(), (object, bytes) => {
          survives(() => codec.fromJson(object));
          survives(() => codec.fromProtobuf(bytes));
          survives(() => codec.toProtobuf(object));
        }),
        { numRuns: 5 },
      );
    }
  });

  it('rejects damaged protobuf with a SchemaError', () => {
    for (const name of ['core/v1.Pod', 'apps/v1.Deployment', 'core/v1.Node', 'meta/v1.Status']) {
      const codec = codecFor<object>(name);
      const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
      fc.assert(
        fc.property(arbitraryObject(name, 6), damage, (object, changes) => {
          const bytes = codec.toProtobuf(codec.fromJson(object));
          for (const [at, value] of changes) bytes[at % bytes.length] = value;
          survives(() => codec.fromProtobuf(bytes));
        }),
        { numRuns: 200 },
      );
    }
  });

  it('sets defaults idempotently', () => {
    for (const name of typeNames) {
      const codec = codecFor<unknown>(name);
      if (schemaType(name).encoding) continue;
      fc.assert(
        fc.property(arbitraryObject(name, 4), (object) => {
          const normal = codec.fromJson(object);
          codec.setDefaults(normal);
          const text = codec.toJson(normal);
          codec.setDefaults(normal);
          expect(codec.toJson(normal)).toBe(text);
        }),
        { numRuns: 3 },
      );
    }
  });
});
