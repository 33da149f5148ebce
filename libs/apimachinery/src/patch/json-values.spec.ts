import { describe, expect, it } from 'vitest';
import { deepEqual, semanticallyEqual } from './json-values.js';

/** Parses a value as from a client: its keys are own properties, whatever their names. */
const parsed = (text: string): unknown => JSON.parse(text);

describe.each([deepEqual, semanticallyEqual])('%o', (equal) => {
  it.each([
    ['{}', '{"constructor":"x"}'],
    ['{"a":{}}', '{"a":{"toString":1}}'],
    ['{}', '{"__proto__":{"a":1}}'],
  ])('distinguishes %s from %s', (value, other) => {
    expect(equal(parsed(value), parsed(other))).toBe(false);
    expect(equal(parsed(other), parsed(value))).toBe(false);
    expect(equal(parsed(other), parsed(other))).toBe(true);
  });
});

it('distinguishes an object from one with an empty member of an inherited name', () => {
  expect(deepEqual(parsed('{}'), parsed('{"__proto__":{}}'))).toBe(false);
  expect(deepEqual(parsed('{"__proto__":{}}'), parsed('{}'))).toBe(false);
});
