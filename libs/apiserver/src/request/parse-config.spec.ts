import { type JsonObject, StatusError, shapeOf } from '@orch/apimachinery';
import { describe, expect, it } from 'vitest';
import { checkConfig, parseConfig } from './parse-config.js';

function refusal(action: () => unknown): [number, string] {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError) return [error.status.code, error.message];
    throw error;
  }
  throw new Error('was not refused');
}

describe('the body of an apply', () => {
  it('is YAML, of which JSON is a kind', () => {
    const config = { a: { b: [1, 'x', true, null] } };
    expect(parseConfig(JSON.stringify(config))).toEqual(config);
    expect(parseConfig('---\na: # of letters\n  b: [1, x, true, ~]\n')).toEqual(config);
    expect(parseConfig('one: &x same\ntwo: *x\n')).toEqual({ one: 'same', two: 'same' });
    expect(parseConfig('{a: 1}')).toEqual({ a: 1 });
  });

  it('says nothing when it is empty', () => {
    expect(parseConfig('')).toEqual({});
    expect(parseConfig('# nothing\n')).toEqual({});
  });

  it.each([
    ['a: [1', "error converting YAML to JSON: yaml: line 1: did not find expected ',' or ']'"],
    [
      'a: 1\nb: {c: 1',
      "error converting YAML to JSON: yaml: line 2: did not find expected ',' or '}'",
    ],
    [
      '[]',
      'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      'text',
      'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}',
    ],
  ])('is refused when it is %j', (text, detail) => {
    expect(refusal(() => parseConfig(text))).toEqual([400, `error decoding YAML: ${detail}`]);
  });

  it.each<[JsonObject, string]>([
    [{}, 'Incorrect version specified in apply patch. Specified patch version: , expected: v1'],
    [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { managedFields: [] } },
      'metadata.managedFields must be nil',
    ],
    [
      { apiVersion: 'v1', kind: 'Secret' },
      'failed to create typed patch object: expected kind ConfigMap, got "Secret"',
    ],
    [
      { apiVersion: 'v1', kind: ['ConfigMap'] },
      'failed to create typed patch object: expected kind ConfigMap, got ""',
    ],
    [
      { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 1 } },
      'failed to create typed patch object: .data.a: expected string, got number 1',
    ],
  ])('has to fit: %j', (config, message) => {
    const target = { apiVersion: 'v1', kind: 'ConfigMap', shape: shapeOf('core/v1.ConfigMap') };
    expect(refusal(() => checkConfig(config, target))).toEqual([400, message]);
  });
});
