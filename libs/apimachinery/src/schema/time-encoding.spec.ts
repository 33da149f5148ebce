import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SchemaError } from './schema-error.js';
import {
  canonicalMicroTimeText,
  canonicalTimeText,
  durationText,
  parseDuration,
  parseMoment,
} from './time-encoding.js';

describe('times', () => {
  it.each([
    ['2020-02-29T23:59:59Z', '2020-02-29T23:59:59Z'],
    ['2020-01-01T00:00:00.999Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00-05:30', '2020-01-01T05:30:00Z'],
    ['0001-01-01T00:00:00Z', undefined],
  ])('%s -> %s', (input, expected) => {
    expect(canonicalTimeText(input)).toBe(expected);
  });

  it.each([
    '2021-02-30T00:00:00Z',
    '2021-13-01T00:00:00Z',
    '2021-01-01T24:00:00Z',
    '2021-01-01T00:00:60Z',
    '2021-01-01',
    '9999-12-31T23:59:59-01:00',
    '',
    7,
  ])('rejects %j', (input) => {
    expect(() => canonicalTimeText(input)).toThrow(SchemaError);
  });

  it('requires exactly six digits for MicroTime', () => {
    expect(canonicalMicroTimeText('2020-01-01T01:00:00.123456+01:00')).toBe(
      '2020-01-01T00:00:00.123456Z',
    );
    expect(() => canonicalMicroTimeText('2020-01-01T00:00:00Z')).toThrow(SchemaError);
    expect(() => canonicalMicroTimeText('2020-01-01T00:00:00.1234567Z')).toThrow(SchemaError);
  });

  it('agrees with the platform', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), noInvalidDate: true, max: new Date(4e12) }),
        (date) => {
          const moment = parseMoment(date.toISOString());
          expect(moment && moment.seconds * 1000 + moment.nanos / 1e6).toBe(date.getTime());
        },
      ),
    );
  });
});

describe('durations', () => {
  it.each([
    ['1h2m3s', '1h2m3s'],
    ['90m', '1h30m0s'],
    ['1.5s', '1.5s'],
    ['1500us', '1.5ms'],
    ['-2h', '-2h0m0s'],
    ['0', '0s'],
    ['17ns', '17ns'],
  ])('%s -> %s', (input, expected) => {
    expect(durationText(parseDuration(input))).toBe(expected);
  });

  it.each(['', '1', 's', '1x', '1h 2m', '9999999999h'])('rejects %j', (input) => {
    expect(() => parseDuration(input)).toThrow(SchemaError);
  });
});
