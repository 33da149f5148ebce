import { expect, it } from 'vitest';
import { unknownFields } from './unknown-fields.js';

it('names what the type does not have', () => {
  const value = { spec: { containers: [{ name: 'a', imag: 'b' }], toleration: [] } };
  expect(unknownFields('core/v1.Pod', value)).toEqual([
    'spec.containers[0].imag',
    'spec.toleration',
  ]);
});

it('ends at types that hold themselves, however deep the value', () => {
  const schema = `${'{"properties":{"a":'.repeat(100_000)}{}${'}}'.repeat(100_000)}`;
  expect(unknownFields('apiextensions/v1.JSONSchemaProps', JSON.parse(schema))).toEqual([]);
});
