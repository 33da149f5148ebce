import { describe, expect, it } from 'vitest';
import { deepEqual, semanticallyEqual } from './json-values.js';

/** As it comes from a client: its keys are its own, whatever their names. */
const parsed = (text: string): unknown => JSON.parse(text);

describe.each([deepEqual, semanticallyEqual])('%o', (equal) => {
  it.each([
    ['{}', '{"constructor":"x"}'],
    ['{"a":{}}', '{"a":{"toString":1}}'],
    ['{}', '{"__proto__":{"a":1}}'],
  ])('tells %s from %s', (one, other) => {
    expect(equal(parsed(one), parsed(other))).toBe(false);
    expect(equal(parsed(other), parsed(one))).toBe(false);
    expect(equal(parsed(other), parsed(other))).toBe(true);
  });
});

it('tells an object from one with an empty member of an inherited name', () => {
  expect(deepEqual(parsed('{}'), parsed('{"__proto__":{}}'))).toBe(false);
  expect(deepEqual(parsed('{"__proto__":{}}'), parsed('{}'))).toBe(false);
});
